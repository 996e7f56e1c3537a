"""When owning has cost as much as renting."""


def break_even_hours(capex_eur: float, cloud_eur_per_h: float, own_eur_per_h: float) -> float | None:
    """Hours of use after which owning has cost as much as renting; None = never."""
    saving = cloud_eur_per_h - own_eur_per_h
    return capex_eur / saving if saving > 0 else None


def break_even_month(
    purchase_eur: float, own_eur_month: float, cloud_eur_month: float, cloud_once_eur: float = 0
) -> float | None:
    """Months until owning has cost as much as renting: capex / (cloud rate − own running cost); None = never.

    What is rented once counts from the first month.
    """
    missing, saving = purchase_eur - cloud_once_eur, cloud_eur_month - own_eur_month
    if missing <= 0:
        return 0
    return missing / saving if saving > 0 else None
