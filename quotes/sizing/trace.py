"""How a figure came to be: built while computing, so that the explanation cannot drift from the number."""

from enum import StrEnum

from pydantic import Field

from catalog.quantity import Frozen, Message, Quantity


class Badge(StrEnum):
    """How near the figure is to a measurement."""

    MEASURED = "measured"  # a measured run of the same model, GPU and nearby load
    INTERPOLATED = "interpolated"  # between measurements of the same kind
    EXTRAPOLATED = "extrapolated"  # outside what was measured
    COMPUTED = "computed"  # arithmetic on catalog figures; no measurement is needed
    ESTIMATED = "estimated"  # rests on a planning estimate


class Input(Frozen):
    """One thing that went into a figure: where it came from is `source` (catalog, answer, assumption, measurement)."""

    name: Message
    value: Quantity | str
    source: str = ""
    assumption: str | None = None  # key in Assumptions when it is one


class Evidence(Frozen):
    """A measured row near the figure."""

    description: str
    value: Quantity
    source: str
    own: bool = False  # measured by the seller, not published


class Figure(Frozen):
    """A number in a proposal that can be unfolded.

    `low`/`high` bound it (80 % interval unless the formula says otherwise); both None for exact arithmetic.
    `formula` is readable mathematics in the names of `inputs`, for example
    "weights + kv_tokens × kv_bytes_per_token + runtime".
    """

    key: str
    label: Message
    value: Quantity
    low: float | None = None
    high: float | None = None
    formula: str = ""
    inputs: tuple[Input, ...] = ()
    badge: Badge = Badge.COMPUTED
    evidence: tuple[Evidence, ...] = Field(default=(), max_length=5)
    evidence_count: int = 0
    note: Message | None = None


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    REFUSAL = "refusal"


class Finding(Frozen):
    """Something the reader must know: an unknown figure, a tight fit, a limit that was hit, a piece of advice."""

    severity: Severity
    message: Message
    about: str = ""  # dotted path of the answer or part concerned
    remedy: Message | None = None
