"""Five real workloads, as a Dutch customer types them: by step, question and text.

Client tests post them, browser tests type them, and tests/scenarios/NAME.yaml is the Workload that must come out. A
question that is not listed keeps what the page shows; `UNKNOWN` ticks 'I don't know'.
"""

from collections.abc import Mapping
from typing import Any

UNKNOWN = object()

type Typed = Mapping[str, Mapping[str, Any]]

SCENARIOS: Mapping[str, Typed] = {
    # Document chat on a 70B model for 300 civil servants, 60 at once, in a server room with 12 kW left.
    "municipality": {
        "use": {"use_case": "document_chat"},
        "model-document-chat": {"task": "serve", "source": "catalog", "model": "Llama 3.1 70B"},
        "load-document-chat": {
            "people": "300",
            "at_once": "60",
            "prompt": ("3.000", "tokens"),
            "output": ("400", "tokens"),
            "longest": ("", "tokens"),
            "pace": "normal",  # 2 seconds and 20 tokens a second
            "profile": "office_hours",
        },
        "data": {"data_size": UNKNOWN, "confidential": "yes"},
        "site": {"site_kind": "server_room", "power_kw": "12", "cooling": ["air"]},
        "plan": {"preference": "own", "title": "Documentchat gemeente"},
    },
    # Inspection by 40 cameras, trained every week overnight on 2 TB of images, beside the line or in a server room.
    "factory": {
        "use": {"use_case": "image_inspection"},
        "model-image-inspection": {"task": "both", "rate_model": "vision:ViT-L/16"},
        "load-image-inspection": {
            "cameras": "40",
            "fps": "15",
            "at_edge": "either",
            "profile": "always",
            "train_data": ("2", "tb"),
            "sample_kb": UNKNOWN,
            "epochs": UNKNOWN,
            "deadline": ("12", "hours"),
            "runs": "weekly",
            "window": "nights",
        },
        "data": {"data_size": ("2", "tb"), "confidential": UNKNOWN},
        "site": {"site_kind": "server_room", "power_kw": UNKNOWN},
        "plan": {"title": "Beeldinspectie fabriek"},
    },
    # A model of 8 billion parameters, 500 billion tokens, 60 days, liquid cooling possible.
    "university": {
        "use": {"use_case": "pre_train"},
        "model-pre-train": {"task": "train", "source": "size", "params_b": "8"},
        "load-pre-train": {
            "train_tokens": "500 miljard",
            "epochs": "1",
            "deadline": ("60", "days"),
            "runs": "once",
            "window": "always",
        },
        "data": {"data_size": ("2", "tb"), "confidential": "no"},
        "site": {"site_kind": "data_hall", "power_kw": UNKNOWN, "cooling": ["air", "liquid"]},
        "plan": {"preference": "own", "title": "Taalmodel universiteit"},
    },
    # An adapter for a 70B model, every week on 20 million tokens, and its use by 120 lawyers: one system for both.
    "law-firm": {
        "use": {"use_case": "fine_tune"},
        "model-fine-tune": {"task": "both", "method": "lora", "source": "catalog", "model": "Llama-3.1-70B"},
        "load-fine-tune": {
            "people": "120",
            "at_once": UNKNOWN,
            "pace": "normal",
            "profile": "office_hours",
            "train_tokens": "20 miljoen",
            "epochs": "1",
            "deadline": ("12", "hours"),
            "runs": "weekly",
            "window": "nights",
        },
        "data": {"data_size": UNKNOWN, "confidential": "yes"},
        "site": {"site_kind": "server_room", "power_kw": UNKNOWN},
        "plan": {"preference": "own", "title": "Juridisch model"},
    },
    # A code assistant for 2,000 developers in office hours: own what is always busy, rent the peaks.
    "software-house": {
        "use": {"use_case": "code_assistant"},
        "model-code-assistant": {"task": "serve", "source": "catalog", "model": "gpt-oss-120b"},
        "load-code-assistant": {
            "people": "2.000",
            "at_once": UNKNOWN,
            "pace": "quick",
            "profile": "office_hours",
        },
        "data": {"confidential": "no"},
        "site": {"site_kind": "server_room", "power_kw": UNKNOWN},
        "plan": {"preference": "hybrid", "cloud_allowed": "yes", "title": "Code-assistent"},
    },
}


def posted(typed: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """What a browser sends for a page that shows `shown` (form data by name) when `typed` is filled in."""
    data = dict(shown)
    for name, value in typed.items():
        if value is UNKNOWN:
            choice = name not in data or f"{name}_unknown" not in data
            data[name if choice else f"{name}_unknown"] = "unknown" if choice else "on"
            continue
        data[f"{name}_unknown"] = ""
        if isinstance(value, tuple):
            data[name], data[f"{name}_unit"] = value
        else:
            data[name] = value
    return {name: value for name, value in data.items() if value not in ("", None, False) or name in typed}
