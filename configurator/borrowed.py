"""Sentences of Django and its packages that their own Dutch lacks: marked here, they are translated with ours."""

from django.utils.translation import gettext_noop, ngettext_lazy

BORROWED = (
    gettext_noop("Filter by %(field_name)s"),
    gettext_noop("Search %(name)s"),
    gettext_noop("Pagination %(name)s"),
    gettext_noop("Pagination %(name)s entries"),
    gettext_noop("Logout"),
    gettext_noop("- Select an option -"),
    gettext_noop("Forgotten your login credentials?"),
    gettext_noop(
        "Are you sure you want to delete the %(object_name)s “%(escaped_object)s”? All of the following related items "
        "will be deleted:"
    ),
    gettext_noop(
        "Deleting the %(object_name)s “%(escaped_object)s” would result in deleting related objects, but your account "
        "doesn't have permission to delete the following types of objects:"
    ),
    gettext_noop(
        "Deleting the %(object_name)s “%(escaped_object)s” would require deleting the following protected "
        "related objects:"
    ),
    ngettext_lazy("…and %(count)d more object.", "…and %(count)d more objects."),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
    # django-simple-history
    gettext_noop("View history: %s"),
    gettext_noop("Change history: %s"),
    gettext_noop("Revert %s"),
    gettext_noop("Revert"),
    gettext_noop("View %(verbose_name)s"),
    gettext_noop("Revert %(verbose_name)s"),
    gettext_noop("Press the 'Revert' button below to revert to this version of the object."),
)
