"""One door to the four ways of sizing: language or measured rate, service or job."""

from collections.abc import Mapping, Sequence

from catalog.quantity import Message, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot, ModelArchitecture
from configurator.workload import Job, LanguageService, LanguageTraining, RateService, Service, Workload
from quotes.sizing.architecture import resolve
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.rates import explain_rates, rate_service_options, rate_training_options
from quotes.sizing.results import LoadOption, Refusal
from quotes.sizing.serving import explain_serving, serving_options
from quotes.sizing.training import explain_training, training_options

type OptionTable = Mapping[str, tuple[LoadOption, ...] | Refusal]
"""What one load needs on every accelerator, by SKU: the ways that hold its targets, or the reason why none does."""


class UnknownModel(LookupError):
    """The workload names a model that the catalog does not have."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.message = Message.of(
            noop("The catalog has no model named {model}. Choose another, or enter its size."), model=key
        )


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
    """Size one part of the workload on every accelerator. Raises UnknownModel."""
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
    if isinstance(part, RateService):
        return rate_service_options(
            part,
            accelerators,
            max_in_node=max_in_node,
            assumptions=assumptions,
            rates=knowledge.rates,
            demand_factors=demand_factors,
        )
    return rate_training_options(
        part, accelerators, max_in_node=max_in_node, assumptions=assumptions, rates=knowledge.rates
    )


def explained(
    option: LoadOption,
    part: Service | Job,
    accelerator: AcceleratorSpec,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
) -> LoadOption:
    """`option` with its figures, computed by the functions that chose it."""
    if isinstance(part, LanguageService):
        return explain_serving(
            option, part, _architecture(part, catalog), accelerator, assumptions, knowledge.serving
        )
    if isinstance(part, LanguageTraining):
        return explain_training(
            option, part, _architecture(part, catalog), accelerator, assumptions, knowledge.training
        )
    return explain_rates(option, part, accelerator, assumptions, knowledge.rates)


def _architecture(part: LanguageService | LanguageTraining, catalog: CatalogSnapshot) -> ModelArchitecture:
    try:
        return resolve(part.model, catalog)
    except LookupError as error:
        raise UnknownModel(part.model.key or "") from error
