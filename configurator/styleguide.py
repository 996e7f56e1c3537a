"""Every part of the design system on one page, for whoever builds pages; not served in production."""

from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from catalog.quantity import Message, Money, Quantity, Span


class SampleForm(forms.Form):
    """One field of each kind; its texts are samples and stay untranslated."""

    use_case = forms.ChoiceField(
        label="What do you want to use it for?",
        help_text="Choose what comes nearest. You can change every figure later.",
        widget=forms.RadioSelect,
        choices=[
            ("document_chat", "Chat with documents"),
            ("code_assistant", "Code assistant"),
            ("document_extraction", "Extract data"),
            ("image_inspection", "Inspect images"),
            ("speech", "Speech to text"),
            ("image_generation", "Generate images"),
            ("embedding_search", "Search by meaning"),
            ("fine_tune", "Fine-tune a model"),
            ("pre_train", "Train from scratch"),
            ("analytics", "Data analytics"),
            ("edge", "At the edge"),
            ("custom", "Something else"),
        ],
    )
    users = forms.IntegerField(
        label="How many people work with it at the busiest moment?",
        help_text="Not everyone with an account: only those who wait for an answer in the same minute.",
        min_value=1,
        max_value=1_000_000,
    )
    users_unknown = forms.BooleanField(label="I don't know", required=False)
    model = forms.ChoiceField(
        label="Which model?",
        choices=[("llama-3.1-70b", "Llama 3.1 70B"), ("gpt-oss-120b", "gpt-oss 120B")],
    )
    confidential = forms.ChoiceField(
        label="May the data leave the building?",
        widget=forms.RadioSelect,
        choices=[("no", "No, never"), ("nl", "Within the Netherlands"), ("eu", "Within the European Union")],
    )
    budget = forms.DecimalField(label="Budget", required=False, help_text="Without VAT.")
    cooling = forms.BooleanField(label="Liquid cooling is possible", required=False)
    remarks = forms.CharField(label="Remarks", required=False, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        extras: dict[str, dict[str, Any]] = {
            "use_case": {
                "question": True,
                "icons": {value: value for value, _ in self.fields["use_case"].choices},  # type: ignore[attr-defined]
                "descriptions": {
                    "document_chat": "Staff ask questions about your own documents.",
                    "code_assistant": "Suggestions and answers while programming.",
                    "document_extraction": "Fields out of invoices, forms and letters.",
                    "image_inspection": "Find faults in camera images.",
                    "speech": "Recordings or calls into text.",
                    "image_generation": "Pictures from a description.",
                    "embedding_search": "Find by meaning instead of by word.",
                    "fine_tune": "Teach an open model your own field.",
                    "pre_train": "A model of your own, from the first step.",
                    "analytics": "Tables, graphs and forecasts on GPUs.",
                    "edge": "Close to the camera or the machine.",
                    "custom": "You know what you need: fill in every figure.",
                },
                "why": "It fills in sensible values for the questions that follow.",
            },
            "users": {
                "unit": "people at once",
                "why": "Each conversation holds memory on the GPU while it runs. The busiest moment decides how much.",
                "assumption": "we assume 15 % of 300 employees: 45",
            },
            "confidential": {
                "descriptions": {"no": "Cloud peaks are then left out of the proposal."},
                "why": "It decides which cloud offers may be compared.",
            },
            "budget": {"unit": "euro"},
        }
        for name, attributes in extras.items():
            for attribute, value in attributes.items():
                setattr(self.fields[name], attribute, value)


def _figure() -> SimpleNamespace:
    return SimpleNamespace(
        key="ttft_p95",
        label=Message(text="Time to the first word, 95 % of questions"),
        value=Quantity(value=1.43, unit="s", digits=2),
        low=1.1,
        high=1.9,
        formula="waiting time + prompt tokens ÷ prefill speed + one decode step",
        inputs=(
            SimpleNamespace(
                name=Message(text="prompt"),
                value=Quantity(value=3000, unit="tokens", digits=4),
                source="your answer",
                assumption=None,
            ),
            SimpleNamespace(
                name=Message(text="prefill speed"),
                value=Quantity(value=8420, unit="tokens/s"),
                source="fitted",
                assumption=None,
            ),
            SimpleNamespace(
                name=Message(text="variation of prompt lengths"),
                value=Quantity(value=0.8),
                source="serving traces, 2025",
                assumption="cv",
            ),
        ),
        badge="measured",
        evidence=(
            SimpleNamespace(
                description="Llama 3.1 70B, 4 × H200, FP8, 64 at once",
                value=Quantity(value=1.38, unit="s"),
                source="public benchmark, 2026",
            ),
        ),
        evidence_count=24,
        note=None,
    )


def _memory(**amounts: float) -> SimpleNamespace:
    parts = {"weights": 0.0, "optimizer": 0.0, "kv": 0.0, "activations": 0.0, "runtime": 0.0} | amounts
    total = 140.4
    free = max(0.0, total - sum(parts.values()))
    return SimpleNamespace(
        total_gib=total, free_gib=free, **{f"{name}_gib": value for name, value in parts.items()}
    )


@require_safe
def styleguide(request: HttpRequest) -> HttpResponse:
    titles = ["Use", "Model", "Load", "Data", "Site", "Placement", "Check"]
    states = ["done", "done", "current", *["todo"] * 4]
    steps = [
        {"title": title, "state": state, "url": "#" if state == "done" else ""}
        for title, state in zip(titles, states, strict=True)
    ]
    context = {
        "steps": steps,
        "form": SampleForm(initial={"users": 60, "use_case": "document_chat", "confidential": "no"}),
        "wrong": SampleForm(
            {"use_case": "speech", "users": "0", "confidential": "", "model": "llama-3.1-70b"},
            auto_id="wrong_%s",
        ),
        "figure": _figure(),
        "computed": SimpleNamespace(
            **{
                **vars(_figure()),
                "key": "heat",
                "label": Message(text="Heat to be carried off"),
                "value": Quantity(value=5.64, unit="kW", digits=2),
                "low": None,
                "high": None,
                "badge": "computed",
                "evidence": (),
                "formula": "power at the wall",
            }
        ),
        "serving": _memory(weights=35.2, kv=58.4, activations=4.1, runtime=8.2),
        "training": _memory(weights=17.5, optimizer=52.5, activations=31.0, runtime=6.0),
        "short": _memory(weights=131.4, kv=22.0, activations=4.1, runtime=8.2),
        "samples": {
            "money": Money(amount=Decimal("32230.23")),
            "quantity": Quantity(value=12.5, unit="kW"),
            "span": Span(low=31, high=44, unit="tokens/s"),
            "band": Span(low=180_000, high=210_000, unit="EUR"),
            "date": date(2026, 11, 30),
            "fraction": 0.71,
        },
        "page": Paginator(range(100), 20).page(2),
    }
    return render(request, "styleguide.html", context)
