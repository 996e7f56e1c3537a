"""The people of the tests. Each has the password that `password` gives."""

from django.contrib.auth.models import Group, User

# name: the role it plays, '' for everything
CAST = {"saskia": "sales", "carlo": "catalog editor", "ada": ""}


def password(name: str) -> str:
    return f"{name}-{name}-{name}"


def enter(name: str) -> User:
    """The user `name` in the database, as staff in its role (an administrator has every right)."""
    role = CAST[name]
    user = User.objects.create_user(
        name,
        f"{name}@rekenkracht.example",
        password(name),
        first_name=name.title(),
        is_staff=True,
        is_superuser=not role,
    )
    # The roles come with the migrations: one that is missing there must fail here.
    if role:
        user.groups.add(Group.objects.get(name=role))
    return user
