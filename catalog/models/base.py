"""What every row of the catalog has, and how the catalog knows that it changed.

Articles share one table (`Article`) beside the table of their kind, so that the database itself keeps a SKU unique
over all kinds and a price can point at any article. The SKU is the primary key: it never changes.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar
from uuid import uuid4

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError as SpecError

from catalog.kinds import KINDS, Kind, build
from catalog.models.fields import WordsField
from catalog.specs import Confidence

CONFIDENCE = [
    (Confidence.VENDOR.value, _("A – vendor document")),
    (Confidence.SECONDARY.value, _("B – quotes a vendor")),
    (Confidence.RECHECK.value, _("C – to be rechecked")),
]


REFUSALS = {
    "greater_than_equal": _("At least %(ge)s."),
    "greater_than": _("More than %(gt)s."),
    "less_than_equal": _("At most %(le)s."),
    "less_than": _("Less than %(lt)s."),
    "missing": _("This is missing."),
    "string_too_short": _("This is missing."),
    "int_from_float": _("Fill in a whole number."),
}
"""What a spec says of a figure, by the kind of mistake that pydantic names."""


def in_words(detail: Mapping[str, Any]) -> str:
    """A mistake that a spec found, as a sentence in the reader's language."""
    sentence = REFUSALS.get(detail["type"])
    if sentence is None:
        return str(detail["msg"]).removeprefix("Value error, ")
    return str(sentence) % detail.get("ctx", {})


class CatalogVersion(models.Model):
    """One row whose token changes with every change of the catalog or of what counts beside it (`Versioned`); the
    caches go by it.

    Random, so that a rolled-back transaction cannot make two states share a token.
    """

    token = models.CharField(max_length=32)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = _("catalog version")
        verbose_name_plural = _("catalog versions")

    def __str__(self) -> str:
        return self.token

    @classmethod
    def bump(cls) -> None:
        """Say that something in the catalog changed."""
        token = uuid4().hex
        if not cls._base_manager.filter(pk=1).update(token=token, changed_at=timezone.now()):
            cls._base_manager.create(pk=1, token=token)

    @classmethod
    def current(cls) -> str:
        """The token of the present state; empty while nothing was ever stored."""
        return cls._base_manager.filter(pk=1).values_list("token", flat=True).first() or ""


class CatalogQuerySet[M: models.Model](models.QuerySet[M]):
    """Changes many rows at once without forgetting the version, which needs no signal this way."""

    def update(self, **kwargs: Any) -> int:
        changed = super().update(**kwargs)
        CatalogVersion.bump()
        return changed

    def delete(self) -> tuple[int, dict[str, int]]:
        deleted = super().delete()
        CatalogVersion.bump()
        return deleted

    def bulk_create(self, *args: Any, **kwargs: Any) -> list[M]:
        created = super().bulk_create(*args, **kwargs)
        CatalogVersion.bump()
        return created

    update.alters_data = True  # type: ignore[attr-defined]
    delete.alters_data = True  # type: ignore[attr-defined]
    bulk_create.alters_data = True  # type: ignore[attr-defined]


class Versioned(models.Model):
    """A row whose change is a change of what proposals are computed from."""

    objects = CatalogQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        super().save(*args, **kwargs)
        CatalogVersion.bump()

    def full_clean(self, exclude: Iterable[str] | None = None, *args: Any, **kwargs: Any) -> None:
        """As Django's, with each mistake at the field it concerns, or at the row when a form lacks that field."""
        left_out = set(exclude or ())
        try:
            super().full_clean(left_out, *args, **kwargs)
        except ValidationError as error:
            raise ValidationError(self._placed(error, left_out)) from None

    def validate_constraints(self, exclude: Iterable[str] | None = None) -> None:
        """As Django's; a constraint names its field in `violation_error_code`."""
        left_out = set(exclude or ())
        try:
            super().validate_constraints(left_out)
        except ValidationError as error:
            raise ValidationError(self._placed(error, left_out)) from None

    def _placed(self, error: ValidationError, left_out: set[str]) -> dict[str, list[ValidationError]]:
        placed: dict[str, list[ValidationError]] = {}
        fields = {field.name for field in self._meta.get_fields()} - left_out
        for name, mistakes in error.update_error_dict({}).items():
            for mistake in mistakes:
                place = str(mistake.code) if name == NON_FIELD_ERRORS and mistake.code in fields else name
                placed.setdefault(place if place in fields else NON_FIELD_ERRORS, []).append(mistake)
        return placed

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        deleted = super().delete(*args, **kwargs)
        CatalogVersion.bump()
        return deleted


class Seeded(Versioned):
    """A row that a data file may have brought."""

    seed_digest = models.CharField(max_length=64, blank=True, editable=False, default="")
    """Of the values as last loaded from a data file: a row that no longer matches was edited by a person."""

    class Meta:
        abstract = True


class Sourced(Seeded):
    """A row with figures that somebody took from somewhere."""

    active = models.BooleanField(
        _("active"), default=True, help_text=_("Rows that are not active are left out of sizing and quotes.")
    )
    inactive_reason = models.CharField(_("why not active"), max_length=200, blank=True)
    source = models.TextField(
        _("source"), help_text=_("Where the figures come from: a page, a data sheet, a person.")
    )
    checked_on = models.DateField(_("checked on"), default=timezone.localdate)
    confidence = models.CharField(
        _("confidence"), max_length=1, choices=CONFIDENCE, default=Confidence.RECHECK.value
    )
    estimated_fields = WordsField(
        _("estimated figures"), help_text=_("Planning estimates: customers see them marked as such.")
    )
    weaker_fields = WordsField(
        _("figures from a weaker source"), help_text=_("Filled later, from the source named below.")
    )
    weaker_source = models.TextField(_("weaker source"), blank=True)
    weaker_confidence = models.CharField(
        _("confidence of the weaker source"), max_length=1, choices=CONFIDENCE, blank=True
    )
    notes = models.TextField(_("notes"), blank=True, help_text=_("For colleagues; customers never see it."))

    kind_key: ClassVar[str]
    columns_of: ClassVar[Mapping[str, str]] = {}
    """Columns whose name differs from the flat one: {"accelerator_sku": "accelerator_id"}."""

    class Meta:
        abstract = True

    @classmethod
    def catalog_kind(cls) -> Kind:
        return KINDS[cls.kind_key]

    @classmethod
    def attribute(cls, column: str) -> str:
        """Name of the attribute that holds the flat `column`."""
        return cls.columns_of.get(column, column)

    def flat(self) -> dict[str, Any]:
        """The row in flat form, without lists of other articles."""
        many = {field.name for field in self._meta.many_to_many}
        names = (*self.catalog_kind().columns, *_PROVENANCE_COLUMNS)
        return {name: getattr(self, self.attribute(name)) for name in names if name not in many}

    def clean(self) -> None:
        """Refuse what the spec refuses, at the field it concerns."""
        super().clean()
        mistakes: dict[str, list[str]] = {}
        unknown = {*self.estimated_fields, *self.weaker_fields} - set(self.catalog_kind().columns)
        if unknown:
            sentence = _("%(name)s is not a figure of this kind.") % {"name": sorted(unknown)[0]}
            field = "estimated_fields" if unknown & set(self.estimated_fields) else "weaker_fields"
            mistakes[field] = [str(sentence)]
        if self.active:
            for field, sentences in self._spec_mistakes().items():
                mistakes.setdefault(field, []).extend(sentences)
        if mistakes:
            raise ValidationError(mistakes)

    def _spec_mistakes(self) -> dict[str, list[str]]:
        try:
            build(self.catalog_kind(), self.flat())
        except SpecError as error:
            known = {field.name for field in self._meta.get_fields()}
            mistakes: dict[str, list[str]] = {}
            for detail in error.errors():
                column = str(detail["loc"][0]) if detail["loc"] else ""
                field = self.attribute(column).removesuffix("_id")
                if detail["type"] == "string_too_short" and field in known and not self._may_be_empty(field):
                    continue  # Django asks for it itself
                mistakes.setdefault(field if field in known else "__all__", []).append(in_words(detail))
            return mistakes
        return {}

    def _may_be_empty(self, name: str) -> bool:
        return bool(getattr(self._meta.get_field(name), "blank", True))


_PROVENANCE_COLUMNS = (
    "source", "checked_on", "confidence", "estimated_fields", "weaker_fields", "weaker_source", "weaker_confidence",
)  # fmt: skip

sourced_constraints = [
    models.CheckConstraint(
        condition=Q(active=True) | ~Q(inactive_reason=""),
        name="%(app_label)s_%(class)s_says_why_inactive",
        violation_error_code="inactive_reason",
        violation_error_message=_("Say why the row is not active."),
    ),
    models.CheckConstraint(
        condition=Q(confidence__in=[value for value, _label in CONFIDENCE]),
        name="%(app_label)s_%(class)s_confidence_known",
        violation_error_code="confidence",
        violation_error_message=_("The confidence is A, B or C."),
    ),
    models.CheckConstraint(
        condition=~Q(source=""),
        name="%(app_label)s_%(class)s_has_a_source",
        violation_error_code="source",
        violation_error_message=_("Say where the figures come from."),
    ),
]


class Article(Sourced):
    """Anything with a SKU. The table of its kind holds the figures."""

    sku = models.CharField(
        _("SKU"),
        max_length=100,
        primary_key=True,
        validators=[
            RegexValidator(
                r"^[A-Za-z0-9][A-Za-z0-9._+-]*$",
                _("A SKU has letters, digits, dots, dashes, plus signs and underscores, and no spaces."),
            )
        ],
        help_text=_(
            "Unique over all kinds of article. It cannot be changed later: copy the article instead."
        ),
    )
    kind_name = models.CharField(_("kind"), max_length=20, editable=False)
    vendor = models.CharField(_("vendor"), max_length=80)
    name = models.CharField(_("name"), max_length=120)
    name_nl = models.CharField(
        _("name in Dutch"),
        max_length=120,
        blank=True,
        help_text=_("For Dutch proposals and quotes. Leave empty when the name is the maker's own."),
    )
    category = models.ForeignKey(
        "catalog.Margin",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="articles",
        verbose_name=_("price category"),
        help_text=_("Decides the margin. Empty for what is rented, not sold."),
    )
    part_number = models.CharField(
        _("part number"), max_length=80, blank=True, help_text=_("As the vendor orders it.")
    )

    columns_of: ClassVar[Mapping[str, str]] = {"category": "category_id"}

    class Meta:
        verbose_name = _("article")
        verbose_name_plural = _("articles")
        ordering = ["vendor", "name"]
        indexes = [models.Index(fields=["vendor", "name"])]
        constraints = [
            *sourced_constraints,
            models.CheckConstraint(
                condition=Q(kind_name__in=[key for key in KINDS if key != "ai_model"]),
                name="catalog_article_kind_known",
                violation_error_message=_("There is no such kind of article."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.vendor} {self.name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.kind_name = self.kind_key
        if self._state.adding and not kwargs.get("force_update"):
            # Otherwise a new CPU with the SKU of a rack would take over the rack's row in the shared table.
            kwargs["force_insert"] = (Article,)
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """Refuse a SKU that differs from another in capitals only: a price list means either by it."""
        super().clean()
        alike = Article.objects.filter(sku__iexact=self.sku).exclude(sku=self.sku).first()
        if alike and self._state.adding:
            sentence = _("%(sku)s is the SKU of %(article)s already.") % {"sku": alike.sku, "article": alike}
            raise ValidationError({"sku": sentence})

    def validate_constraints(self, exclude: Iterable[str] | None = None) -> None:
        self.kind_name = self.kind_key
        super().validate_constraints(exclude)
