"""The roles of sales and of the catalog editor, with what they may do in the catalog."""

from django.db import migrations

from catalog.roles import CATALOG_EDITOR, EVERYTHING, SALES, grant

ARTICLES = (
    "accelerator", "accessory", "cable", "cloudoffer", "coolingunit", "cpu", "drive", "memorymodule", "networkcard",
    "pdu", "rack", "server", "service", "storagesystem", "switch",
)
MODELS = (*ARTICLES, "article", "aimodel", "price", "margin")


def give(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Sales sees everything, sets prices and puts articles together; deleting and margins are the editor's.
    grant(apps, alias, SALES, "catalog", [("view", model) for model in MODELS])
    grant(apps, alias, SALES, "catalog", [(action, model) for action in ("add", "change") for model in (*ARTICLES, "price")])
    grant(apps, alias, CATALOG_EDITOR, "catalog", [(action, model) for action in EVERYTHING for model in MODELS])


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
