"""Who may do what. Administrators need no role: they may do everything.

`grant` is for migrations: a group that was given more by hand keeps it.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.management import create_permissions

SALES = "sales"
CATALOG_EDITOR = "catalog editor"
EVERYTHING = ("view", "add", "change", "delete")


def grant(apps: Any, alias: str, role: str, app_label: str, allowed: Iterable[tuple[str, str]]) -> None:
    """Make the group `role` if need be and give it `allowed`, pairs of action and model name of `app_label`."""
    app_config = apps.get_app_config(app_label)
    # Permissions are otherwise made after the last migration, too late for this one.
    app_config.models_module = True
    create_permissions(app_config, apps=apps, verbosity=0, using=alias)
    app_config.models_module = None
    group, _made = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=role)
    permissions = (
        apps.get_model("auth", "Permission").objects.using(alias).filter(content_type__app_label=app_label)
    )
    codenames = [f"{action}_{model}" for action, model in allowed]
    group.permissions.add(*permissions.filter(codename__in=codenames))
