"""Fill a trial site: `manage.py make_demo`. A second run changes nothing and takes no time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import override

from catalog.snapshot import snapshot
from configurator.models import Draft
from configurator.wizard.answers import build_workload
from configurator.wizard.steps import steps_for
from quotes import services
from quotes.models import Quote, Seller, TermsDocument

DEMO = Path(__file__).resolve().parent.parent.parent / "data" / "demo.yaml"


def read_demo() -> Mapping[str, Any]:
    return yaml.safe_load(DEMO.read_text(encoding="utf-8"))


class Command(BaseCommand):
    help = "Makes demonstration accounts, a seller, terms, plans and quotes. Refused on a production site."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError(
                "This is a production site, and demonstration accounts have known passwords. "
                "Set SITE_MODE=demo for a trial."
            )
        if not snapshot().servers:
            raise CommandError("The catalog is empty. Run `manage.py load_catalog` first.")
        demo = read_demo()
        for account in demo["accounts"]:
            self._account(account)
        with transaction.atomic():
            self._seller(demo)
            plans = {plan["scenario"]: self._plan(plan) for plan in (*demo["plans"], *demo["examples"])}
            for wanted in demo["quotes"]:
                self._quote(wanted, plans[wanted["scenario"]], demo["accounts"][0]["name"])
        for scenario, draft in plans.items():
            self._tell(f"Plan   {settings.SITE_URL}{draft.get_absolute_url()}  ({scenario})")
        for quote in Quote.objects.filter(reference__startswith="DEMO-").order_by("reference"):
            name = quote.full_number or quote.get_status_display()
            self._tell(f"Quote  {settings.SITE_URL}{quote.get_absolute_url()}  ({name}, {quote.status})")

    def _tell(self, text: str) -> None:
        self.stdout.write(f"· {text}")

    def _account(self, account: Mapping[str, str]) -> None:
        role = account["role"]
        user, made = User.objects.get_or_create(
            username=account["name"],
            defaults={
                "first_name": account["first_name"],
                "email": f"{account['name']}@voorbeeld.example",
                "is_staff": True,
                "is_superuser": not role,
            },
        )
        if made:
            user.set_password(account["password"])
            user.save()
            if role:
                user.groups.add(Group.objects.get(name=role))
        if user.check_password(account["password"]):
            self._tell(f"Login  {account['name']} / {account['password']}  ({role or 'administrator'})")

    def _seller(self, demo: Mapping[str, Any]) -> None:
        if not Seller.objects.exists():
            Seller.objects.create(**demo["seller"])
        first_day = timezone.localdate().replace(month=1, day=1)
        for terms in demo["terms"]:
            if not TermsDocument.objects.filter(language=terms["language"]).exists():
                TermsDocument.objects.create(**terms, valid_from=first_day)

    def _plan(self, plan: Mapping[str, Any]) -> Draft:
        title = plan["answers"]["plan"]["title"]
        draft = Draft.objects.alive().filter(title=title, language=plan["language"]).first()
        if draft is None:
            draft = Draft(language=plan["language"], title=title)
            for step in steps_for(plan["answers"]):
                if step.slug in plan["answers"]:
                    draft.change(step.slug, plan["answers"][step.slug])
            draft.save()
        return draft

    def _quote(self, wanted: Mapping[str, Any], draft: Draft, seller: str) -> None:
        if Quote.objects.filter(reference=wanted["reference"]).exists():
            return
        with override(draft.language):
            proposal = services.proposal_for(build_workload(draft.answers, snapshot()))
            if proposal.recommended is None:
                raise CommandError(f"The catalog holds no system for the plan {draft.title}.")
            own = {"scenario", "end", "decided_by", "decided_function"}
            contact = {name: value for name, value in wanted.items() if name not in own}
            quote = services.create_quote(
                proposal, proposal.recommended.tier, contact, language=draft.language, draft=draft
            )
            if wanted["end"] in {"issued", "accepted"}:
                quote = services.issue(quote, User.objects.get(username=seller))
            if wanted["end"] == "accepted":
                services.accept(quote, name=wanted["decided_by"], function=wanted["decided_function"])
