"""What the tables refuse, each with a sentence; and that what was issued never changes."""

import hashlib
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from quotes import services
from quotes.models import AssumptionOverride, Quote, QuoteLine, QuoteStatus, Seller, TermsDocument, VatRate
from quotes.models.quote import ALWAYS_MUTABLE, DECISION, GROUPS, ROLES, TIERS, TRANSITIONS
from quotes.models.seller import LOGO_MAX_BYTES, VAT_MODES, contrast, validate_accent, validate_logo
from quotes.pricing.money import VatMode
from quotes.sizing.results import LineRole, Tier

pytestmark = pytest.mark.usefixtures("english")

BEYOND_DRAFT = [status for status in QuoteStatus.values if status != QuoteStatus.DRAFT]


# ── issued is frozen ────────────────────────────────────────────────────────────────────────────────────────────


def another_value(field: Any, value: Any) -> Any:
    """A legal value of a field that differs from `value`."""
    match field.get_internal_type():
        case "CharField" | "TextField":
            choices = [choice for choice, _label in field.choices or () if choice != value]
            return (
                choices[0]
                if choices
                else f"{value}x"[-field.max_length :]
                if field.max_length
                else f"{value}x"
            )
        case "BooleanField":
            return not value
        case "DecimalField":
            return (value or Decimal(0)) + 1
        case "DateField":
            return (value or date(2030, 1, 1)) + timedelta(days=1)
        case "DateTimeField":
            return (value or timezone.now()) + timedelta(days=1)
        case "JSONField":
            return {"other": True}
        case kind:
            raise AssertionError(kind)


FROZEN = [
    field.name
    for field in Quote._meta.concrete_fields
    if not field.primary_key and not field.is_relation and field.name not in ALWAYS_MUTABLE | {"status"}
]


@pytest.mark.parametrize("name", FROZEN)
def test_no_field_of_an_accepted_quote_changes(make_quote, name: str) -> None:
    quote = make_quote("accepted")
    setattr(quote, name, another_value(Quote._meta.get_field(name), getattr(quote, name)))
    with pytest.raises(ValidationError, match="cannot change"):
        quote.save()


@pytest.mark.parametrize("name", [name for name in FROZEN if name not in DECISION])
def test_no_field_of_an_issued_quote_changes_but_the_decision(make_quote, name: str) -> None:
    quote = make_quote("issued")
    setattr(quote, name, another_value(Quote._meta.get_field(name), getattr(quote, name)))
    with pytest.raises(ValidationError, match="cannot change"):
        quote.save()


@pytest.mark.parametrize("status", BEYOND_DRAFT)
def test_nothing_gets_around_the_freeze(make_quote, status: str) -> None:
    quote = make_quote(status)
    before = Quote.objects.filter(pk=quote.pk).values().get()
    lines = list(quote.lines.values())
    line = quote.lines.first()
    ways = [
        lambda: Quote.objects.filter(pk=quote.pk).update(title="Other"),
        lambda: Quote._base_manager.filter(pk=quote.pk).update(net_eur=1),
        lambda: Quote.objects.filter(pk=quote.pk).delete(),
        quote.delete,
        lambda: Quote.objects.bulk_update([changed(quote, title="Other")], ["title"]),
        lambda: changed(line, unit_eur=1).save(),
        line.delete,
        lambda: quote.lines.update(quantity=5),
        lambda: quote.lines.all().delete(),
        lambda: QuoteLine(quote=quote, text="More", unit_eur=1).save(),
    ]
    for way in ways:
        with pytest.raises(ValidationError), transaction.atomic():
            way()
    assert Quote.objects.filter(pk=quote.pk).values().get() == before
    assert list(quote.lines.values()) == lines


def changed(row: Any, **values: Any) -> Any:
    fresh = type(row).objects.get(pk=row.pk)
    for name, value in values.items():
        setattr(fresh, name, value)
    return fresh


@pytest.mark.parametrize("status", QuoteStatus.values)
def test_the_link_and_our_notes_may_change_always(make_quote, status: str) -> None:
    quote = make_quote(status)
    quote.internal_note, quote.link_revoked = "Bel terug", True
    quote.save()
    assert Quote.objects.filter(pk=quote.pk).update(link_revoked=False) == 1


def test_a_quote_outlives_its_plan_and_its_seller(make_quote, ada) -> None:
    quote = make_quote("accepted")
    ada.delete()
    quote.refresh_from_db()
    assert quote.issued_by is None
    assert quote.status == "accepted"


@pytest.mark.parametrize("before", QuoteStatus.values)
@pytest.mark.parametrize("after", QuoteStatus.values)
def test_only_the_drawn_steps_between_statuses_are_saved(make_quote, before: str, after: str) -> None:
    quote = make_quote(before)
    # Everything that the database asks of any status, so that the step alone is judged.
    copy = {"a": 1}
    values = {
        "number": "2026-0001", "issued_copy": copy, "issued_at": timezone.now(), "issued_sha256": "x",
        "decided_at": timezone.now(), "decided_by": "Jan", "decided_function": "Hoofd",
        "terms": TermsDocument.objects.first(),
    }  # fmt: skip
    if before == QuoteStatus.DRAFT and after != QuoteStatus.DRAFT:
        for name, value in values.items():
            setattr(quote, name, value)
    elif before == QuoteStatus.ISSUED:
        quote.decided_at, quote.decided_by, quote.decided_function = timezone.now(), "Jan", "Hoofd"
        if after == QuoteStatus.ISSUED:
            quote.refresh_from_db()
    quote.status = after
    if after == before or after in TRANSITIONS[before]:
        quote.save()
        assert Quote.objects.get(pk=quote.pk).status == after
    else:
        with pytest.raises(ValidationError, match="cannot go from"):
            quote.save()


# ── what the database refuses ───────────────────────────────────────────────────────────────────────────────────


def refused(row: Any, sentence: str) -> None:
    """The form says a sentence, and the database refuses it too when somebody gets past the form."""
    with pytest.raises(ValidationError) as error:
        row.validate_constraints()
    assert sentence in " ".join(error.value.messages)
    with pytest.raises(IntegrityError), transaction.atomic():
        QuerySet(type(row)).bulk_create([row])


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"status": "issued"}, "An issued quote has a number and a frozen copy."),
        ({"status": "sold"}, "There is no such status."),
        ({"issued_copy": {"a": 1}}, "A draft has no frozen copy."),
        ({"revision": "B"}, "Only an issued quote has revisions."),
        ({"discount_pct": Decimal(101)}, "A discount lies between 0 and 100 per cent."),
        ({"discount_pct": Decimal(-1)}, "A discount lies between 0 and 100 per cent."),
        ({"offer_mode": "perhaps"}, "An offer is either firm or without obligation."),
        (
            {
                "status": "accepted", "number": "2026-0001", "issued_copy": {}, "issued_at": timezone.now(),
                "issued_sha256": "x",
            },
            "An accepted quote says who accepted it",
        ),
    ],
)  # fmt: skip
def test_an_impossible_quote(make_quote, values: dict[str, Any], sentence: str) -> None:
    made = make_quote()
    kept = {
        field.attname: getattr(made, field.attname)
        for field in Quote._meta.concrete_fields
        if not field.primary_key
    }
    refused(Quote(**kept | {"token": "other"} | values), sentence)


def test_a_number_and_revision_exist_once(make_quote) -> None:
    first, second = make_quote("issued"), make_quote()
    second.number = first.number
    with pytest.raises(ValidationError, match="exist already"):
        second.validate_constraints()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"quantity": 0}, "A line needs a quantity of at least 1."),
        ({"unit_eur": Decimal(-1)}, "A price is not negative"),
        ({"discount_pct": Decimal("100.01")}, "a discount lies between 0 and 100 per cent"),
    ],
)
def test_an_impossible_line(make_quote, values: dict[str, Any], sentence: str) -> None:
    refused(QuoteLine(**{"quote": make_quote(), "text": "Work", "unit_eur": Decimal(1)} | values), sentence)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"rate_pct": Decimal(101)}, "A VAT rate lies between 0 and 100 per cent."),
        ({"mode": "moon"}, "There is no such kind of sale."),
        ({"source": ""}, "Say which law the rate comes from."),
        ({"mode": "domestic", "valid_from": date(2012, 10, 1)}, "There is already a rate"),
    ],
)
def test_an_impossible_vat_rate(db, values: dict[str, Any], sentence: str) -> None:
    VatRate.objects.get_or_create(
        mode="domestic", valid_from=date(2012, 10, 1), defaults={"rate_pct": 21, "source": "law"}
    )
    rate = {"mode": "export", "rate_pct": Decimal(0), "valid_from": date(2030, 1, 1), "source": "law"}
    refused(VatRate(**rate | values), sentence)


def test_every_mode_has_a_rate_with_its_source_from_the_start(db) -> None:
    assert {rate.mode for rate in VatRate.objects.all()} == set(VatMode)
    assert {mode: services.vat_rate(VatMode(mode), date(2026, 1, 1)).rate_pct for mode in VatMode} == {
        "domestic": 21,
        "eu_business": 0,
        "export": 0,
        "reverse_charge": 0,
    }


def test_a_day_before_every_rate_has_none(db) -> None:
    with pytest.raises(services.Refused, match="no VAT rate"):
        services.vat_rate(VatMode.DOMESTIC, date(1990, 1, 1))


# ── seller and terms ────────────────────────────────────────────────────────────────────────────────────────────


def test_there_is_one_seller(seller) -> None:
    second = Seller(trade_name="Ander")
    second.save()
    assert Seller.objects.count() == 1
    assert Seller.objects.get().trade_name == "Ander"
    refused(Seller(id=2), "There is one seller")


def test_won_quotes_are_kept_seven_years(db) -> None:
    refused(Seller(id=1, keep_won_years=6), "seven years")


def test_an_empty_card_says_what_is_missing(seller) -> None:
    assert seller.missing == []
    seller.iban = seller.kvk_number = ""
    assert seller.missing == ["Chamber of Commerce number (KvK)", "IBAN"]


@pytest.mark.parametrize(
    ("svg", "sentence"),
    [
        ('<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="4" fill="#0b5563"/></svg>', ""),
        ('<svg><!-- a <!remark> --><use href="#a"/></svg>', ""),
        ('<svg><rect fill="url(#shade)"/></svg>', ""),
        ("<svg><script>alert(1)</script></svg>", "shapes only"),
        ('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', "shapes only"),
        ('<svg onload="x()"/>', "shapes only"),
        ('<svg><image href="https://elsewhere.example/a.png"/></svg>', "shapes only"),
        (
            '<svg xmlns:xlink="http://www.w3.org/1999/xlink"><use xlink:href="//x.example/a"/></svg>',
            "shapes only",
        ),
        ('<svg><rect fill="url(https://x.example/a)"/></svg>', "shapes only"),
        ("<svg><style>@import 'x'</style></svg>", "shapes only"),
        ("<svg><foreignObject/></svg>", "shapes only"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', "document type"),
        ("<html></html>", "no valid SVG"),
        ("no drawing", "no valid SVG"),
        (f"<svg>{' ' * LOGO_MAX_BYTES}</svg>", "larger than 64 kB"),
    ],
)
def test_a_logo_is_a_drawing_and_nothing_else(svg: str, sentence: str) -> None:
    if not sentence:
        validate_logo(svg)
        return
    with pytest.raises(ValidationError, match=sentence):
        validate_logo(svg)


@pytest.mark.parametrize(("colour", "readable"), [("#0b5563", True), ("#000000", True), ("#ffdd00", False)])
def test_an_accent_must_be_readable_on_paper(colour: str, readable: bool) -> None:
    if readable:
        validate_accent(colour)
        return
    with pytest.raises(ValidationError, match="hard to read"):
        validate_accent(colour)


def test_contrast_of_black_on_white_is_the_largest() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_terms_that_stand_on_a_quote_keep_their_text(make_quote, terms) -> None:
    other = TermsDocument.objects.exclude(pk=terms.pk).get()
    make_quote("issued", language=terms.language)
    terms.refresh_from_db()
    terms.text += " More."
    with pytest.raises(ValidationError, match="stands on a quote"):
        terms.save()
    other.text = "Better words."
    other.save()
    assert other.sha256 == hashlib.sha256(b"Better words.").hexdigest()


def test_terms_without_a_text_are_refused(db) -> None:
    refused(
        TermsDocument(title="A", version="1", language="nl", text="", valid_from=date(2026, 1, 1)),
        "Terms without",
    )


# ── assumptions ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("balanced_headroom_factor", 1.5, ""),
        ("balanced_headroom_factor", 0.5, "between 1 and 3"),
        ("balanced_headroom_factor", 4, "between 1 and 3"),
        ("phase_of_the_moon", 1, "no such assumption"),
    ],
)
def test_an_override_keeps_to_the_range(db, key: str, value: float, sentence: str) -> None:
    row = AssumptionOverride(key=key, value=value, source="measured here")
    if not sentence:
        row.save()
        assert services.current_assumptions().balanced_headroom_factor == value
        return
    with pytest.raises(ValidationError, match=sentence):
        row.save()


def test_an_override_says_what_it_rests_on(db) -> None:
    refused(
        AssumptionOverride(key="balanced_headroom_factor", value=1.5, source=""),
        "Say what your value rests on.",
    )


def test_an_override_that_no_longer_fits_takes_nothing_down(db, caplog) -> None:
    AssumptionOverride.objects.bulk_create(
        [
            AssumptionOverride(key="dropped_since", value=1, source="x"),
            AssumptionOverride(key="balanced_headroom_factor", value=99, source="x"),
            AssumptionOverride(key="room_headroom_factor", value=2, source="x"),
        ]
    )
    assumptions = services.current_assumptions()
    assert assumptions.room_headroom_factor == 2
    assert assumptions.balanced_headroom_factor != 99
    assert "dropped_since" in caplog.text


# ── every code has a name ───────────────────────────────────────────────────────────────────────────────────────


def test_every_code_has_a_name() -> None:
    assert [value for value, _label in TIERS] == [tier.value for tier in Tier]
    assert [value for value, _label in ROLES] == [role.value for role in LineRole]
    assert {value for value, _label in VAT_MODES} == set(VatMode)
    assert len({value for value, _label in GROUPS}) == len(GROUPS)
