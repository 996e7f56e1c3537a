"""Amounts that cannot lie: Decimal, half-up to the cent, net + VAT == gross enforced where the value is made."""

from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Self

from pydantic import model_validator

from catalog.quantity import Frozen

CENT = Decimal("0.01")


def cents(amount: Decimal | int) -> Decimal:
    """`amount` rounded half-up to whole cents."""
    return Decimal(amount).quantize(CENT, rounding=ROUND_HALF_UP)


class VatMode(StrEnum):
    """How VAT applies to a quote. The rate and the text that the law wants are data, see `quotes.models`."""

    DOMESTIC = "domestic"
    EU_BUSINESS = "eu_business"  # intra-Community supply, needs a valid VAT number
    EXPORT = "export"
    REVERSE_CHARGE = "reverse_charge"  # domestic, loose processors only


class OfferMode(StrEnum):
    """Firm: irrevocable until the end of `valid_until`. Without obligation: may be withdrawn. Never both."""

    FIRM = "firm"
    WITHOUT_OBLIGATION = "without_obligation"


class Totals(Frozen):
    """Net, VAT and gross in one currency. Invariants: every amount in whole cents, net + vat == gross."""

    net: Decimal
    vat_rate_pct: Decimal
    vat: Decimal
    gross: Decimal
    currency: str = "EUR"

    @classmethod
    def of(cls, net: Decimal, vat_rate_pct: Decimal) -> Self:
        net = cents(net)
        vat = cents(net * vat_rate_pct / 100)
        return cls(net=net, vat_rate_pct=vat_rate_pct, vat=vat, gross=net + vat)

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if any(amount != cents(amount) for amount in (self.net, self.vat, self.gross)):
            raise ValueError("amounts must be whole cents")
        if self.net + self.vat != self.gross:
            raise ValueError("net + VAT must equal gross")
        return self
