"""The figures behind leasing, reserving, spot and tokens, unfolded."""

from collections.abc import Iterator, Sequence

from catalog.quantity import Message, noop
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.inputs import assumed, euros, given
from quotes.sizing.money.leasing import Leased
from quotes.sizing.results import CloudAlternative, RentPlan, TokenCost
from quotes.sizing.trace import Badge, Figure, Input

LEASE_LABELS = {
    "financial": noop("Financial lease, a month"),
    "operational": noop("Operational lease, a month"),
}
PLAN_LABELS = {
    "reserved_1y": noop("Reserved for a year, a month"),
    "reserved_3y": noop("Reserved for three years, a month"),
    "spot": noop("On machines that may be taken away, a month"),
}


def figures_of_ways(
    price_eur: float,
    months: int,
    leased: Sequence[Leased],
    plans: Sequence[RentPlan],
    tokens: TokenCost | None,
    assumptions: Assumptions,
) -> Iterator[Figure]:
    for lease in leased:
        yield _lease_figure(lease, price_eur, months, assumptions)
    for plan in plans:
        if plan.cloud and plan.plan in PLAN_LABELS:
            yield _plan_figure(plan.plan, plan.cloud, assumptions)
    if tokens:
        yield _token_figure(tokens, months, assumptions)


def _lease_figure(lease: Leased, price_eur: float, months: int, assumptions: Assumptions) -> Figure:
    purchase = given(noop("purchase"), price_eur, "EUR", "bill of materials")
    operational = lease.kind == "operational"
    terms = (
        ((noop("share a month"), "%", "lease_operational_pct_per_month"),)
        if operational
        else (
            (noop("interest a year"), "%", "lease_interest_pct_per_year"),
            (noop("last payment"), "%", "lease_final_pct"),
        )
    )
    formula = noop(
        "(purchase − last_payment × (1 + i)^−months) × i / (1 − (1 + i)^−months), i = interest / 12"
    )
    return Figure(
        key=f"lease_{lease.kind}_eur_per_month",
        label=Message.of(LEASE_LABELS[lease.kind]),
        value=euros(lease.monthly_eur),
        formula=noop("purchase × share") if operational else formula,
        inputs=(
            purchase,
            given(noop("months"), months, "", "answer"),
            *(assumed(name, getattr(assumptions, key), unit, key) for name, unit, key in terms),
        ),
    )


def _plan_figure(plan: str, cloud: CloudAlternative, assumptions: Assumptions) -> Figure:
    once_only = not cloud.hours_per_month
    terms: list[Input] = []
    if plan == "spot":
        useful = assumptions.spot_useful_fraction
        terms.append(assumed(noop("share of the time that counts"), useful, "", "spot_useful_fraction"))
    elif cloud.estimated:
        key = f"cloud_{plan}_discount_pct"
        terms.append(assumed(noop("discount"), getattr(assumptions, key), "%", key))
    return Figure(
        key=f"cloud_{plan}_eur",
        label=Message.of(PLAN_LABELS[plan]) if not once_only else Message.of(noop("The run on spot, once")),
        value=euros(float(cloud.once_eur if once_only else cloud.monthly_eur)),
        formula=noop("instances × hours × price_per_hour + administration + storage_and_transfer"),
        inputs=(
            given(noop("instances"), cloud.instances, "", "sizing on the rented accelerator"),
            given(
                noop("hours"), cloud.once_hours if once_only else cloud.hours_per_month, "h", "load profile"
            ),
            given(noop("price an hour"), float(cloud.hourly_eur), "EUR", cloud.provider),
            *terms,
        ),
        badge=Badge.ESTIMATED if cloud.estimated else Badge.COMPUTED,
    )


def _token_figure(tokens: TokenCost, months: int, assumptions: Assumptions) -> Figure:
    priced = (
        (
            assumed(
                noop("a million in, elsewhere"),
                assumptions.token_input_eur_per_million,
                "EUR",
                "token_input_eur_per_million",
            ),
            assumed(
                noop("a million out, elsewhere"),
                assumptions.token_output_eur_per_million,
                "EUR",
                "token_output_eur_per_million",
            ),
        )
        if tokens.api_eur_month is not None
        else ()
    )
    return Figure(
        key="own_eur_per_million_tokens",
        label=Message.of(noop("A million tokens on the own system, at this use")),
        value=euros(float(tokens.own_eur_per_m)),
        formula=noop("own_total / ((millions_in + millions_out) × months)"),
        inputs=(
            given(noop("millions of tokens in a month"), tokens.input_m_month, "", "load profile"),
            given(noop("millions of tokens out a month"), tokens.output_m_month, "", "load profile"),
            given(noop("months"), months, "", "answer"),
            *priced,
        ),
    )
