"""What a customer fills in: who asks for a quote, and who decides on one."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from configurator.formats import locale
from configurator.wizard.fields import tidy
from quotes.models import Quote
from quotes.pricing.vat import EU_COUNTRIES, SELLER_COUNTRY

NO_COUNTRIES = {"EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"}  # unions, regions and test codes of CLDR


def countries() -> list[tuple[str, str]]:
    """ISO 3166 code and name in the reader's language: the seller's own first, then by name."""
    named = {code: name for code, name in locale().territories.items() if len(code) == 2 and code.isalpha()}
    rest = sorted((name, code) for code, name in named.items() if code not in {SELLER_COUNTRY, *NO_COUNTRIES})
    return [(SELLER_COUNTRY, named[SELLER_COUNTRY]), *((code, name) for name, code in rest)]


class Tidied(forms.BaseForm):
    """Keeps no sign that nobody sees: names stand on quotes, and some signs turn the line that they stand in around."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name, value in list(cleaned.items()):
            if isinstance(value, str):
                cleaned[name] = tidy(value)
                if not cleaned[name] and self.fields[name].required:
                    self.add_error(name, self.fields[name].error_messages["required"])
        return cleaned


class ContactForm(Tidied, forms.ModelForm):
    """Who wants the quote. Only what is needed to make one is mandatory."""

    country = forms.ChoiceField(label=_("Country"), choices=countries, initial=SELLER_COUNTRY)
    consent = forms.BooleanField(
        label=_("I agree that you keep these details to make and handle this quote."),
        error_messages={"required": _("We may only make a quote when you agree to this.")},
    )

    class Meta:
        model = Quote
        fields = (
            "organisation", "contact_name", "email", "phone", "street", "postcode", "city", "country",
            "kvk_number", "vat_id", "delivery_place", "reference", "customer_note",
        )  # fmt: skip
        labels = {
            "organisation": _("Organisation"),
            "contact_name": _("Your name"),
            "email": _("E-mail address"),
            "phone": _("Telephone number"),
            "street": _("Street and number"),
            "postcode": _("Postcode"),
            "city": _("City"),
            "delivery_place": _("Place of delivery"),
            "reference": _("Your reference"),
            "customer_note": _("Question or remark"),
        }
        help_texts = {
            "vat_id": _("Needed when your organisation is in another country of the EU."),
            "delivery_place": _("Only when it is not the address above."),
            "reference": _("For example the number of your request; it is printed on the quote."),
        }
        widgets = {"customer_note": forms.Textarea({"rows": 4})}
        error_messages = {
            "organisation": {"required": _("Fill in the name of your organisation.")},
            "contact_name": {"required": _("Fill in your name.")},
            "email": {
                "required": _("Fill in an e-mail address, so that we can reach you."),
                "invalid": _("Fill in an e-mail address such as name@example.org."),
            },
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        complete = {
            "organisation": "organization",
            "contact_name": "name",
            "email": "email",
            "phone": "tel",
            "street": "street-address",
            "postcode": "postal-code",
            "city": "address-level2",
            "country": "country",
        }
        for name, token in complete.items():
            self.fields[name].widget.attrs["autocomplete"] = token

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        country = cleaned.get("country", "")
        if (
            country in EU_COUNTRIES
            and country != SELLER_COUNTRY
            and not cleaned.get("vat_id")
            and "vat_id" not in self.errors
        ):
            self.add_error("vat_id", _("Fill in the VAT number of your organisation."))
        if country != SELLER_COUNTRY:
            cleaned["kvk_number"] = ""
        return cleaned

    @property
    def contact(self) -> dict[str, Any]:
        """The customer's fields, valid."""
        return {name: getattr(self.instance, name) for name in self.Meta.fields}


class AcceptForm(Tidied, forms.Form):
    prefix = "accept"

    name = forms.CharField(
        label=_("Your name"),
        max_length=120,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": _("Fill in your name.")},
    )
    function = forms.CharField(
        label=_("Your function"),
        max_length=120,
        widget=forms.TextInput({"autocomplete": "organization-title"}),
        error_messages={
            "required": _("Fill in your function, so that it is clear on whose behalf you agree.")
        },
    )
    terms = forms.BooleanField(
        label=_("I have read the terms and conditions and agree to this quote."),
        error_messages={
            "required": _("You can only accept the quote together with its terms and conditions.")
        },
    )


class DeclineForm(Tidied, forms.Form):
    prefix = "decline"

    name = forms.CharField(
        label=_("Your name"),
        max_length=120,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": _("Fill in your name.")},
    )
    reason = forms.CharField(
        label=_("What made you decide so?"),
        max_length=300,
        required=False,
        widget=forms.Textarea({"rows": 3}),
    )
