"""Size a workload from a file: `manage.py size FILE [--json] [--explain] [--pdf OUT] [--language nl]`."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pydantic
import yaml
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from catalog.snapshot import snapshot
from configurator.formats import money, say
from configurator.templatetags.rekenkracht import origin
from configurator.wizard.presets import load_title
from configurator.workload import Workload
from quotes import services
from quotes.document_data import CustomerCard, IssuedDocument
from quotes.presentation.existing import Machine, existing_page
from quotes.presentation.facts import facts
from quotes.presentation.names import tier_name
from quotes.pricing.money import OfferMode
from quotes.proposal import Proposal
from quotes.services.paper import render, seller_card, terms_card
from quotes.services.proposals import today
from quotes.services.seller import current_seller, current_terms
from quotes.sizing.refusals import grouped_refusals
from quotes.sizing.results import SizedSystem
from quotes.sizing.trace import Figure, Finding


class Command(BaseCommand):
    help = "Sizes and prices the workload in a JSON or YAML file (docs/schema/workload.json) with the site's catalog."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the workload: .json, .yaml or .yml")
        parser.add_argument("--json", action="store_true", help="print the whole proposal as JSON")
        parser.add_argument("--explain", action="store_true", help="unfold every figure and every refusal")
        parser.add_argument(
            "--pdf", type=Path, metavar="OUT", help="write the proposal as a PDF, marked as a preview"
        )
        parser.add_argument("--language", choices=["nl", "en"], default="en", help="of the text and the PDF")

    def handle(self, *args: Any, **options: Any) -> None:
        workload = read_workload(options["file"])
        if not snapshot().servers:
            raise CommandError("The catalog is empty. Run `manage.py load_catalog` first.")
        with override(options["language"]):
            try:
                proposal = services.proposal_for(workload)
                if options["pdf"]:
                    options["pdf"].write_bytes(render(preview(proposal, options["language"])))
            except services.Refused as refusal:
                raise CommandError(refusal.sentence) from None
            if options["json"]:
                self.stdout.write(proposal.model_dump_json(indent=2))
                return
            for line in told(proposal, explain=options["explain"]):
                self.stdout.write(line)


def read_workload(path: Path) -> Workload:
    """The workload in a file. Raises CommandError with every mistake at its place."""
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
        return Workload.model_validate(data)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, json.JSONDecodeError, yaml.YAMLError) as error:
        raise CommandError(f"{path} is no valid JSON or YAML: {error}") from None
    except pydantic.ValidationError as error:
        places = [
            f"{'.'.join(str(part) for part in detail['loc']) or 'the file'}: {detail['msg']}"
            for detail in error.errors(include_url=False, include_input=False)
        ]
        raise CommandError(f"{path} is no workload.\n" + "\n".join(places)) from None


def preview(proposal: Proposal, language: str) -> IssuedDocument:
    """A document of the recommended system without a customer. Raises CommandError when nothing fits."""
    if proposal.recommended is None:
        raise CommandError("No system fits, so there is nothing to print.")
    seller = current_seller()
    tier = proposal.recommended.tier
    build = proposal.recommended.candidate.system
    return IssuedDocument(
        number=None,
        language="nl" if language == "nl" else "en",
        title=proposal.sizing.workload.title or _("AI system"),
        issued_on=today(),
        valid_until=today() + timedelta(days=seller.validity_days),
        offer_mode=OfferMode.WITHOUT_OBLIGATION,
        seller=seller_card(seller),
        customer=CustomerCard(organisation=_("no customer yet"), contact_name="", email=""),
        prices=proposal.prices[tier],
        terms=terms_card(current_terms(language, today()), language),
        delivery_weeks=build.lead_time_weeks,
        delivery_line=build.lead_time_article.in_language(language) if build.lead_time_article else "",
        payment_term_days=seller.payment_term_days,
        proposal=proposal,
        tier=tier,
    )


# ── as text ─────────────────────────────────────────────────────────────────────────────────────────────────────


def told(proposal: Proposal, *, explain: bool) -> Iterator[str]:
    """The proposal line by line, in the active language."""
    sizing = proposal.sizing
    for finding in sizing.findings:
        yield from _finding(finding)
    if existing := existing_page(proposal.existing):
        yield ""
        yield _("What you have already")
        for message in existing.together:
            yield f"  {say(message)}"
        yield " ".join((f"  {existing.basis}", *existing.counted, existing.saving)).rstrip()
        for machine in existing.machines:
            yield from _machine(machine, explain=explain)
        for finding in existing.findings:
            yield from _finding(finding, "  ")
    for system in sizing.systems:
        yield ""
        yield from _system(proposal, system)
        if explain:
            yield from _explained(proposal, system)
    if explain and sizing.refusals:
        yield ""
        yield _("Why not …?")
        for group in grouped_refusals(sizing.refusals):
            yield f"  {say(group.title)} ({len(group.members)})"
            for refusal in group.members:
                change = f" → {say(refusal.change)}" if refusal.change else ""
                yield f"    {refusal.subject_name}: {say(refusal.reason)}{change}"


def _machine(machine: Machine, *, explain: bool) -> Iterator[str]:
    yield f"  {machine.title}: {machine.gpus} → {machine.use}. {say(machine.reason)}"
    for text in (machine.readings, *machine.kept, machine.energy):
        if text:
            yield f"    {text}"
    for load in machine.loads if explain else ():
        change = f" → {say(load.change)}" if load.change else ""
        yield f"    {load.name}: {say(load.message)}{change}"
    for finding in machine.findings:
        yield from _finding(finding, "    ")


def _system(proposal: Proposal, system: SizedSystem) -> Iterator[str]:
    mark = f" ({_('Our advice')})" if system.recommended else ""
    yield f"{tier_name(system.tier)}{mark}"
    yield f"  {say(system.answer)}"
    for label, value in facts(system):
        yield f"  {label}: {value}"
    totals = proposal.prices[system.tier].totals
    yield f"  {_('Total without VAT')}: {money(totals.net)}; {_('Total with VAT')}: {money(totals.gross)}"


def _explained(proposal: Proposal, system: SizedSystem) -> Iterator[str]:
    for load in system.candidate.loads:
        yield f"  {load_title(load.load)}"
        for figure in load.figures:
            yield from _figure(figure)
    yield f"  {_('Bill of materials')}"
    for line in proposal.prices[system.tier].lines:
        yield f"    {line.quantity} × {line.name_in(get_language() or '')}: {say(line.reason)}"
    for figure in system.candidate.system.figures:
        yield from _figure(figure)
    for finding in system.candidate.system.findings:
        yield from _finding(finding, "    ")
    for figure in system.economics.figures if system.economics else ():
        yield from _figure(figure)


def _figure(figure: Figure) -> Iterator[str]:
    formula = f" = {_(figure.formula)}" if figure.formula else ""
    yield f"    {say(figure.label)}: {say(figure.value)}{formula}"
    for item in figure.inputs:
        source = f" ({origin(item.source)})" if item.source else ""
        yield f"      {say(item.name)}: {say(item.value)}{source}"
    for row in figure.evidence:
        yield f"      {row.description}: {say(row.value)} ({row.source})"


def _finding(finding: Finding, indent: str = "") -> Iterator[str]:
    remedy = f" → {say(finding.remedy)}" if finding.remedy else ""
    yield f"{indent}{finding.severity.upper()}: {say(finding.message)}{remedy}"
