"""Proposals: computed from answers, catalog, prices and assumptions as they are now; cached, never stored."""

import logging
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache

from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.snapshot import snapshot
from catalog.specs import CatalogSnapshot
from configurator.workload import Workload
from quotes.models import AssumptionOverride, VatRate
from quotes.pricing.money import VatMode
from quotes.proposal import Proposal, propose
from quotes.services.measurements import current_knowledge
from quotes.services.refused import Refused
from quotes.sizing.assumptions import Assumptions, described

CACHED_PROPOSALS = 32

logger = logging.getLogger(__name__)


def today() -> date:
    """The date in Amsterdam: what a price, a rate and a validity go by."""
    return timezone.localdate(timezone=timezone.get_default_timezone())


def current_assumptions() -> Assumptions:
    """The defaults with this site's overrides.

    An override that no longer fits (an assumption that was dropped, or has another range since) is left out and logged:
    it must not take every proposal down.
    """
    changed = {}
    for key, value in AssumptionOverride.objects.values_list("key", "value"):
        if key in Assumptions.model_fields:
            facts = described(Assumptions(), key)
            if facts["low"] <= value <= facts["high"]:
                changed[key] = value
                continue
        logger.warning("the changed assumption %s = %s does not fit and is left out", key, value)
    return Assumptions.model_validate(changed)


def vat_rate(mode: VatMode, on: date) -> VatRate:
    """The rate that holds on a day. Raises Refused when nobody entered one."""
    rate = VatRate.objects.filter(mode=mode.value, valid_from__lte=on).order_by("-valid_from").first()
    if rate is None:
        raise Refused(_("There is no VAT rate for this kind of sale yet. Add one in the administration."))
    return rate


def proposal_for(workload: Workload, *, on: date | None = None, quick: bool = False) -> Proposal:
    """Size and price `workload` with the catalog, prices, measurements and assumptions of a day (today when left out).

    A `quick` one does not work out which wish to relax when the budget does not reach, what other demands cost, nor
    what to do about the limits of the site.

    Equal arguments give the same object for as long as nothing in the catalog, the measurements, the assumptions or the
    VAT rate changes.
    Raises Refused when there is no VAT rate.
    """
    day = on or today()
    rate = vat_rate(VatMode.DOMESTIC, day).rate_pct
    weigh = workload.budget.max_eur is not None and not quick
    return _proposal(
        workload.model_dump_json(),
        _Versioned(snapshot(day)),
        current_assumptions(),
        day,
        rate,
        weigh,
        not quick,
    )


@dataclass(frozen=True, eq=False)
class _Versioned:
    """A snapshot as a cache key: equal versions on equal days are equal."""

    catalog: CatalogSnapshot

    @property
    def key(self) -> tuple[str, date]:
        return self.catalog.version, self.catalog.taken_on

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Versioned) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=CACHED_PROPOSALS)
def _proposal(
    workload: str,
    versioned: _Versioned,
    assumptions: Assumptions,
    on: date,
    vat_rate_pct: Decimal,
    weigh: bool,
    in_full: bool,
) -> Proposal:
    return propose(
        Workload.model_validate_json(workload),
        versioned.catalog,
        assumptions,
        current_knowledge(versioned.catalog),
        on=on,
        vat_rate_pct=vat_rate_pct,
        weigh_concessions=weigh,
        in_full=in_full,
    )
