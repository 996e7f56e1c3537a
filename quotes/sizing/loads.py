"""One door to the four ways of sizing: language or measured rate, service or job."""

from collections.abc import Mapping, Sequence

from catalog.quantity import Message, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot, ModelArchitecture
from configurator.workload import (
    Job,
    LanguageService,
    LanguageTraining,
    RateService,
    RateTraining,
    Service,
    Workload,
)
from quotes.sizing.architecture import FORMATS, resolve
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.parts import parts_of
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.portions import as_part, part_of
from quotes.sizing.rates import (
    NotMeasured,
    RateTable,
    explain_rates,
    rate_service_options,
    rate_training_options,
)
from quotes.sizing.results import LoadOption, ModelToRun, Refusal, SplitLayout
from quotes.sizing.serving import explain_serving, serving_options, split_layout
from quotes.sizing.serving.layouts import kv_format_for
from quotes.sizing.training import explain_training, training_options

type OptionTable = Mapping[str, tuple[LoadOption, ...] | Refusal]
"""What one load needs on every accelerator, by SKU: the ways that hold its targets, or the reason why none does."""


class UnknownModel(LookupError):
    """The workload names a model that the catalog does not have, or of which nobody measured rates."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(key)
        self.message = Message.of(text, model=key)


def parts(workload: Workload) -> tuple[Service | Job, ...]:
    return (*workload.services, *workload.jobs)


def option_table(
    part: Service | Job,
    accelerators: Sequence[AcceleratorSpec],
    max_in_node: Mapping[str, int],
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
    demand_factors: Sequence[float],
) -> OptionTable:
    """Size one part of the workload on every accelerator, joined as the catalog can. Raises UnknownModel."""
    accelerators = [parts_of(catalog).as_joined(accelerator) for accelerator in accelerators]
    if isinstance(part, LanguageService | LanguageTraining):
        architecture = _architecture(part, catalog)
        if isinstance(part, LanguageService):
            return serving_options(
                part,
                architecture,
                accelerators,
                max_in_node=max_in_node,
                assumptions=assumptions,
                calibration=knowledge.serving,
                demand_factors=demand_factors,
            )
        return training_options(
            part,
            architecture,
            accelerators,
            max_in_node=max_in_node,
            assumptions=assumptions,
            calibration=knowledge.training,
        )
    try:
        return _rate_options(part, accelerators, max_in_node, assumptions, knowledge.rates, demand_factors)
    except NotMeasured as error:
        text = noop(
            "There is no measured rate for the model {model}. Choose the offered model that is most like it."
        )
        raise UnknownModel(part.model, text) from error


def _rate_options(
    part: RateService | RateTraining,
    accelerators: Sequence[AcceleratorSpec],
    max_in_node: Mapping[str, int],
    assumptions: Assumptions,
    rates: RateTable,
    demand_factors: Sequence[float],
) -> OptionTable:
    if isinstance(part, RateService):
        return rate_service_options(
            part,
            accelerators,
            max_in_node=max_in_node,
            assumptions=assumptions,
            rates=rates,
            demand_factors=demand_factors,
        )
    return rate_training_options(
        part, accelerators, max_in_node=max_in_node, assumptions=assumptions, rates=rates
    )


def explained(
    option: LoadOption,
    part: Service | Job,
    accelerator: AcceleratorSpec,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
) -> LoadOption:
    """`option` with its figures, computed by the functions that chose it on the part that it has, and with what its
    start command names."""
    accelerator = parts_of(catalog).as_joined(accelerator)
    if option.portion:
        part_spec = part_of(accelerator, option.portion, assumptions)
        whole = option.model_copy(update={"portion": None})
        sized = explained(whole, part, part_spec, catalog, assumptions, knowledge)
        return as_part(sized, part_spec, assumptions)
    option = option.model_copy(update={"stack": stack_of(accelerator)})
    if isinstance(part, RateService | RateTraining):
        return explain_rates(option, part, accelerator, assumptions, knowledge.rates)
    architecture = _architecture(part, catalog)
    option = option.model_copy(update={"model": _model_to_run(part, architecture)})
    if isinstance(part, LanguageService):
        return explain_serving(option, part, architecture, accelerator, assumptions, knowledge.serving)
    return explain_training(option, part, architecture, accelerator, assumptions, knowledge.training)


def split_in_two(
    option: LoadOption,
    part: Service | Job,
    accelerator: AcceleratorSpec,
    server_gpus: int,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
) -> SplitLayout | None:
    """The same accelerators as workers for prompts and workers for answers; None for what cannot be split so."""
    if option.portion or not isinstance(part, LanguageService):
        return None
    arch = _architecture(part, catalog)
    return split_layout(option, part, arch, accelerator, server_gpus, assumptions, knowledge.serving)


_STACKS = (
    "jetpack",
    "cuda",
    "rocm",
    "gaudi",
    "oneapi",
)  # that start commands are known for, the narrowest first


STACK_NAMES = {"rocm": "ROCm", "oneapi": "oneAPI", "synapseai": "SynapseAI", "jetpack": "JetPack"}
"""Software of accelerators as its maker writes it, where that is not in capitals."""


def stack_of(accelerator: AcceleratorSpec) -> str:
    """The software that programs for this accelerator are made for; empty when no start commands are known for it."""
    return next((stack for stack in _STACKS if stack in accelerator.software_stack), "")


def _model_to_run(part: LanguageService | LanguageTraining, arch: ModelArchitecture) -> ModelToRun:
    named = part.model.params_b is None and arch.key != "custom"
    engine = part.engine if isinstance(part, LanguageService) else ""
    native = FORMATS.get(arch.native_format, FORMATS["bf16"])
    return ModelToRun(
        hub_id=arch.key if named else "",
        checkpoint_format=native.key,
        # Models with indexed sparse attention are published for an 8-bit cache.
        cache_format="fp8" if arch.sparse_top_k else kv_format_for("auto", engine, native),
        licence=arch.licence,
        experts=arch.is_moe,
        latent_attention=arch.is_mla,
        shape=_plain_shape(arch),
    )


def _plain_shape(arch: ModelArchitecture) -> dict[str, int]:
    """Dimensions of a dense model of the usual build; empty for every other."""
    unusual = (
        arch.is_moe or arch.is_mla or arch.sliding_layers or arch.linear_layers or arch.attentionless_layers
    )
    if unusual or not arch.standard_structure or not arch.gated_feed_forward:
        return {}
    names = ("layers", "hidden", "feed_forward", "query_heads", "kv_heads", "head_dim", "vocabulary")
    return {name: getattr(arch, name) for name in names} | {"tied_embeddings": int(arch.tied_embeddings)}


def _architecture(part: LanguageService | LanguageTraining, catalog: CatalogSnapshot) -> ModelArchitecture:
    try:
        return resolve(part.model, catalog)
    except LookupError as error:
        text = noop("The catalog has no model named {model}. Choose another, or enter its size.")
        raise UnknownModel(part.model.key or "", text) from error
