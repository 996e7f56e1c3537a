"""What sales may do with quotes, and the VAT rates of the law with their sources."""

from datetime import date
from decimal import Decimal

from django.db import migrations

from catalog.roles import SALES, grant

SALES_MAY = [
    *[(action, model) for action in ("view", "change") for model in ("quote", "quoteline", "assumptionoverride")],
    *[(action, model) for action in ("add", "delete") for model in ("quoteline", "assumptionoverride")],
    *[("view", model) for model in ("quoteevent", "paper", "seller", "vatrate", "termsdocument")],
    ("delete", "quote"),  # drafts only; an issued quote is kept
    ("issue", "quote"),
    ("see", "margin"),
]

RATES = [
    {
        "mode": "domestic",
        "rate_pct": Decimal("21"),
        "valid_from": date(2012, 10, 1),
        "source": "Wet op de omzetbelasting 1968, art. 9 lid 1",
    },
    {
        "mode": "eu_business",
        "rate_pct": Decimal("0"),
        "text_nl": "Intracommunautaire levering, 0 % btw (artikel 138 van Richtlijn 2006/112/EG).",
        "text_en": "Intra-Community supply, 0% VAT (article 138 of Directive 2006/112/EC).",
        "valid_from": date(2007, 1, 1),
        "source": "Directive 2006/112/EC, art. 138; Wet op de omzetbelasting 1968, tabel II, post a.6",
    },
    {
        "mode": "export",
        "rate_pct": Decimal("0"),
        "text_nl": "Uitvoer uit de Europese Unie, 0 % btw (artikel 146 van Richtlijn 2006/112/EG).",
        "text_en": "Export from the European Union, 0% VAT (article 146 of Directive 2006/112/EC).",
        "valid_from": date(2007, 1, 1),
        "source": "Directive 2006/112/EC, art. 146; Wet op de omzetbelasting 1968, tabel II, post a.2",
    },
    {
        "mode": "reverse_charge",
        "rate_pct": Decimal("0"),
        "from_net_eur": Decimal("10000"),
        "text_nl": "Btw verlegd naar de afnemer (artikel 199 bis van Richtlijn 2006/112/EG).",
        "text_en": "VAT reverse-charged to the customer (article 199a of Directive 2006/112/EC).",
        "valid_from": date(2013, 6, 1),
        "source": "Uitvoeringsbesluit omzetbelasting 1968, art. 24ba; Directive 2006/112/EC, art. 199a(1)(d)",
    },
]


def give(apps, schema_editor):
    alias = schema_editor.connection.alias
    grant(apps, alias, SALES, "quotes", SALES_MAY)
    rates = apps.get_model("quotes", "VatRate").objects.using(alias)
    for rate in RATES:
        rates.get_or_create(mode=rate["mode"], valid_from=rate["valid_from"], defaults=rate)


class Migration(migrations.Migration):
    dependencies = [
        ("quotes", "0001_initial"),
        ("catalog", "0002_roles"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
