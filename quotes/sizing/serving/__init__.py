"""Serving a language model: what it needs on each accelerator, and how each figure came to be."""

from quotes.sizing.serving.explain import explain_serving
from quotes.sizing.serving.options import serving_options

__all__ = ["explain_serving", "serving_options"]
