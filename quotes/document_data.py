"""What a quote document shows: a frozen copy of everything, so that an issued quote never changes.

Nothing internal is in here: no purchase cost, no margin. A document is rendered from this and from nothing else.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Literal, Self

from pydantic import Field, model_validator

from catalog.quantity import Frozen
from quotes.pricing.lines import PricedLine, PricedSystem
from quotes.pricing.money import OfferMode, VatMode
from quotes.proposal import Proposal
from quotes.sizing.results import SizedSystem, Tier


class Address(Frozen):
    street: str = ""
    postcode: str = ""
    city: str = ""
    country: str = "NL"


class SellerCard(Frozen):
    trade_name: str
    statutory_name: str
    seat: str
    address: Address
    kvk_number: str
    vat_id: str
    iban: str
    contact_name: str
    email: str
    phone: str
    website: str = ""
    product_name: str = "Rekenkracht"
    accent: str = "#0b5563"
    logo_svg: str = ""


class CustomerCard(Frozen):
    organisation: str
    contact_name: str
    email: str
    phone: str = ""
    address: Address = Address()
    kvk_number: str = ""
    vat_id: str = ""
    reference: str = ""


class TermsCard(Frozen):
    title: str
    version: str
    sha256: str
    text: str


class IssuedDocument(Frozen):
    """Everything on paper. `number` is None for a preview, which carries a watermark and cannot be accepted."""

    number: str | None
    revision: str = ""
    language: Literal["nl", "en"]
    title: str
    issued_on: date
    issued_at: datetime | None = None
    valid_until: date
    offer_mode: OfferMode
    seller: SellerCard
    customer: CustomerCard
    prices: PricedSystem
    options: tuple[PricedLine, ...] = ()  # options and alternatives: shown apart, not in the total
    vat_mode: VatMode = VatMode.DOMESTIC
    vat_text: str = ""
    terms: TermsCard
    delivery_weeks: int | None = None
    delivery_line: str = ""  # the article that decides the lead time
    delivery_place: str = ""
    incoterm: str = "DAP"
    payment_term_days: int = Field(default=30, ge=0)
    warranty_text: str = ""
    proposal: Proposal
    tier: Tier
    acceptance_url: str = ""
    accepted_by: str = ""
    accepted_function: str = ""
    accepted_at: datetime | None = None

    @model_validator(mode="after")
    def _tier_exists(self) -> Self:
        if self.proposal.system(self.tier) is None:
            raise ValueError("the quoted tier is not in the proposal")
        return self

    @property
    def system(self) -> SizedSystem:
        """The quoted system."""
        found = self.proposal.system(self.tier)
        if found is None:  # pragma: no cover — refused by the validator
            raise LookupError(self.tier)
        return found

    @property
    def is_preview(self) -> bool:
        return self.number is None

    @property
    def full_number(self) -> str:
        """Number and revision as printed, for example "2026-0042-B"."""
        return f"{self.number}-{self.revision}" if self.number and self.revision else (self.number or "")

    @property
    def net_eur(self) -> Decimal:
        return self.prices.totals.net
