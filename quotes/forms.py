"""What a customer fills in: who asks for a quote, and who decides on one."""

from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from quotes.models import Quote


class ContactForm(forms.ModelForm):
    """Who wants the quote. Only what is needed to make one is mandatory."""

    consent = forms.BooleanField(
        label=_("I agree that my details are kept to make and handle this quote."),
        error_messages={"required": _("We may only make a quote when you agree to this.")},
    )

    class Meta:
        model = Quote
        fields = (
            "organisation",
            "contact_name",
            "email",
            "phone",
            "street",
            "postcode",
            "city",
            "kvk_number",
            "vat_id",
            "reference",
        )

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
        }
        for name, token in complete.items():
            self.fields[name].widget.attrs["autocomplete"] = token
        self.fields["kvk_number"].validators.append(
            RegexValidator(r"^\d{8}$", _("A KvK number has eight digits."))
        )

    @property
    def contact(self) -> dict[str, Any]:
        """The customer's fields, valid."""
        return {name: self.cleaned_data[name] for name in self.Meta.fields}


class AcceptForm(forms.Form):
    name = forms.CharField(
        label=_("Your name"), max_length=120, widget=forms.TextInput({"autocomplete": "name"})
    )
    function = forms.CharField(
        label=_("Your function"),
        max_length=120,
        widget=forms.TextInput({"autocomplete": "organization-title"}),
    )
    terms = forms.BooleanField(
        label=_("I have read the terms and conditions and agree to this quote."),
        error_messages={
            "required": _("A quote can only be accepted together with its terms and conditions.")
        },
    )


class DeclineForm(forms.Form):
    name = forms.CharField(
        label=_("Your name"), max_length=120, widget=forms.TextInput({"autocomplete": "name"})
    )
    reason = forms.CharField(
        label=_("What made you decide so? (not required)"), max_length=300, required=False
    )
