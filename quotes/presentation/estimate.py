"""The living estimate beside the questionnaire."""

from typing import Any

from django.utils.translation import gettext as _

from catalog.quantity import Quantity
from configurator.wizard.answers import Assessment
from configurator.wizard.presets import load_title
from quotes.presentation.facts import hardware, promises
from quotes.proposal import Proposal
from quotes.sizing.results import SizedSystem


def estimate_panel(assessment: Assessment, proposal: Proposal | None) -> dict[str, Any]:
    """Template context of the living estimate; `chosen` is None when there is none, and `explanation` says why."""
    chosen = proposal.recommended if proposal else None
    if proposal and proposal.existing and proposal.existing.carries_all:
        text = _("Your own machines carry everything that you ask.")
        return {"chosen": None, "headline": _("Nothing to buy"), "explanation": text}
    if proposal is None or chosen is None:
        return {"chosen": None, **_nothing_yet(assessment)}
    return {"chosen": chosen, **_estimate(chosen, proposal), "assumed": _plain_assumptions(assessment)}


def _nothing_yet(assessment: Assessment) -> dict[str, Any]:
    if assessment.workload is not None:
        text = _("No system in the catalog does all of this. The proposal says what stands in the way.")
        return {"headline": _("Nothing fits yet"), "explanation": text}
    problem = assessment.problems[0].message if assessment.problems else ""
    return {"headline": _("No estimate yet"), "explanation": problem}


def _estimate(chosen: SizedSystem, proposal: Proposal) -> dict[str, Any]:
    candidate = chosen.candidate
    price = float(proposal.prices[chosen.tier].totals.net)
    width = proposal.assumptions.estimate_band_fraction
    several = len(candidate.loads) > 1
    return {
        "headline": hardware(chosen),
        "low": price * (1 - width),
        "high": price * (1 + width),
        "power": Quantity(value=candidate.system.power.wall_w / 1000, unit="kW", digits=2),
        "memories": [(load_title(load.load), load.memory) for load in candidate.loads if load.memory],
        "promises": list(promises(candidate.loads)),
        "limits": [(load_title(load.load) if several else "", load.limited_by) for load in candidate.loads],
        "demonstration": proposal.demonstration_prices,
    }


def _plain_assumptions(assessment: Assessment) -> int:
    """How many questions we answered for the customer, technical ones left out."""
    return len({(row.step, row.field) for row in assessment.assumed if not row.expert})
