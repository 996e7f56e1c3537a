"""Serving a language model: what it needs on each accelerator, and how each figure came to be."""

from quotes.sizing.serving.explain import explain_serving
from quotes.sizing.serving.options import serving_options
from quotes.sizing.serving.split_layout import split_layout

__all__ = ["explain_serving", "serving_options", "split_layout"]
