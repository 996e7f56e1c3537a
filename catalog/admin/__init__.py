"""The catalog in the admin. Each module registers its tables."""

from catalog.admin import articles, models, prices

__all__ = ["articles", "models", "prices"]
