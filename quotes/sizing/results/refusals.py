"""Why something is not offered."""

from typing import Literal, Self

from catalog.quantity import Frozen, Message
from catalog.specs import AcceleratorSpec

Stage = Literal["catalog", "memory", "speed", "server", "site", "budget", "dominated", "stack", "evidence"]
"""The check that refused."""

Kind = Literal[Stage, "power", "space", "cooling", "unknown", "model", "wish", "sale"]
"""What stands in the way, for a reader: a stage, or part of one."""


class Refusal(Frozen):
    """Why an accelerator, server or layout is not offered, and the smallest change that would admit it."""

    subject: str  # SKU
    subject_name: str
    reason: Message
    change: Message | None = None
    stage: Stage = "memory"
    load: str = ""
    kind: Kind | None = None  # None: as the stage
    excess: float | None = None  # asked / available of what runs short, None: off by kind, not by degree

    @classmethod
    def of(
        cls,
        accelerator: AcceleratorSpec,
        stage: Stage,
        reason: Message,
        change: Message | None = None,
        *,
        load: str = "",
        kind: Kind | None = None,
        excess: float | None = None,
    ) -> Self:
        """The refusal of this accelerator, by its SKU and name."""
        return cls(
            subject=accelerator.sku,
            subject_name=accelerator.name,
            reason=reason,
            change=change,
            stage=stage,
            load=load,
            kind=kind,
            excess=excess,
        )
