"""Models and GPUs under the names that published tables use."""

import re

from catalog.specs import AcceleratorSpec, CatalogSnapshot, FormFactor, ModelArchitecture
from quotes.sizing.evaluation.models import EXTRA_GPUS, EXTRA_MODELS, PATTERNS
from quotes.sizing.serving.machines import silicon


class OutOfScope(LookupError):
    """The row names something that the product does not size; the message is a sentence for the report."""


def find_model(name: str, catalog: CatalogSnapshot) -> ModelArchitecture:
    """The architecture behind `name`: a key of the catalog, else the first spelling that matches."""
    if name in catalog.models_by_key:
        return catalog.models_by_key[name]
    text = name.strip().lower().replace("_", "-")
    for pattern, template in PATTERNS:
        found = re.search(pattern, text)
        if found is None:
            continue
        size = next((group for group in found.groups() if group), "")
        return _by_key(template.format(size), catalog, name)
    raise OutOfScope(f"No dimensions are known of a model called {name}.")


def _by_key(key: str, catalog: CatalogSnapshot, name: str) -> ModelArchitecture:
    wanted = key.lower()
    exact = [model for model in (*catalog.models, *EXTRA_MODELS) if model.key.lower() == wanted]
    begins = [model for model in catalog.models if wanted and model.key.lower().startswith(wanted)]
    if not exact and not begins:
        raise OutOfScope(f"{name} is not a language model that the product sizes.")
    return (exact or begins)[0]


def find_accelerator(name: str, catalog: CatalogSnapshot) -> AcceleratorSpec:
    """The accelerator behind `name`; a name without form or size means the usual board version. Raises OutOfScope, also
    for a size that none of them has."""
    wanted = silicon(name)
    known = (*catalog.accelerators, *EXTRA_GPUS)
    same = [one for one in known if silicon(one.name, one.form_factor) == wanted]
    if not same:
        raise OutOfScope(f"The catalog has no accelerator called {name}.")
    label = label_gb(name)
    found = min(same, key=lambda one: _distance(one, label, name))
    if label and found.memory_gb_label and abs(label / found.memory_gb_label - 1) > SAME_LABEL:
        raise OutOfScope(f"The catalog has no {found.name} of {label:g} GB.")
    return found


SAME_LABEL = 0.15  # makers and tables round one size differently: 180, 183 and 192 GB are one board

LARGEST_GB = 400


def label_gb(name: str) -> float | None:
    """The size of the memory in a name; 480 GB beside a GH200 is that of its processor."""
    memory = re.search(r"(\d{2,3})\s*GB?\b", name)
    return float(memory.group(1)) if memory and float(memory.group(1)) < LARGEST_GB else None


def _distance(one: AcceleratorSpec, label_gb: float | None, name: str) -> tuple[float, int, int]:
    """Nearest in memory first; without a size the largest, as published tables mean the usual version. Then the name
    with the most words in common, then the board before the card."""
    boards = (FormFactor.SXM, FormFactor.OAM, FormFactor.PCIE)
    place = boards.index(one.form_factor) if one.form_factor in boards else len(boards)
    common = set(name.lower().replace("_", " ").split()) & set(one.name.lower().split())
    gap = abs(one.memory_gb_label - label_gb) // 8 if label_gb else -one.memory_gb_label
    return gap, -len(common), place
