"""Leasing instead of buying: what a month costs over the whole horizon. A rate that nobody knows is never guessed."""

from typing import NamedTuple

from quotes.sizing.assumptions import Assumptions


class Leased(NamedTuple):
    """Paid to the lessor: every month of the term, and at its end. The running cost comes on top."""

    kind: str  # "financial": owned in the end; "operational": given back
    monthly_eur: float
    final_eur: float


def financial_lease(price_eur: float, months: int, assumptions: Assumptions) -> Leased | None:
    """Level payments with a last one that makes the system the customer's; None while the interest is not known.

    The payment is price − final × v^n, over the annuity (1 − v^n) / i, with i the interest of a month and v = 1/(1+i).
    """
    rate = assumptions.lease_interest_pct_per_year / 100 / 12
    if rate <= 0:
        return None
    final = price_eur * assumptions.lease_final_pct / 100
    discount = (1 + rate) ** -months
    return Leased("financial", (price_eur - final * discount) * rate / (1 - discount), final)


def operational_lease(price_eur: float, assumptions: Assumptions) -> Leased | None:
    """A share of the price each month, the system given back at the end; None while the share is not known."""
    share = assumptions.lease_operational_pct_per_month / 100
    return Leased("operational", price_eur * share, 0) if share > 0 else None
