"""What an own system costs over time."""


def value_left_eur(purchase_eur: float, residual_pct: float) -> float:
    """What it can still be sold for at the end."""
    return purchase_eur * residual_pct / 100


def cumulative_eur(purchase_eur: float, running_eur_month: float, months: float) -> float:
    """Purchase and running cost after so many months."""
    return purchase_eur + running_eur_month * months
