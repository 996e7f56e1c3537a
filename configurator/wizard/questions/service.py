"""How much is asked of the model when it is used."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from configurator.wizard.counts import CountsQuestion
from configurator.wizard.fields import ChoiceQuestion, Stored
from configurator.wizard.forms import StepForm
from configurator.wizard.number_fields import AmountField, NumberField, ShareField
from configurator.wizard.questions.shared import HOURS, USE_PROFILES
from configurator.wizard.situation import Situation
from configurator.workload import Domain, UseCase

# A token is about three quarters of an English word; a page is taken as 500 words.
TOKENS_PER_WORD = Decimal(4) / 3
TOKENS_PER_PAGE = 500 * TOKENS_PER_WORD
TEXT = {
    "tokens": (_("tokens"), Decimal(1)),
    "words": (_("words"), TOKENS_PER_WORD),
    "pages": (_("pages"), TOKENS_PER_PAGE),
}
TOKEN_HINT = _("A token is about ¾ of an English word, in Dutch somewhat less; a page is about 670 tokens.")

# The first word within so many seconds for 95 of 100 requests, then so many tokens a second for each person.
PACES = {
    "quick": (Decimal(1), Decimal(30)),
    "normal": (Decimal(2), Decimal(20)),
    "relaxed": (Decimal(5), Decimal(10)),
}


def availability() -> ChoiceQuestion:
    return ChoiceQuestion(
        _("May it stand still when a part breaks?"),
        [("single", _("Yes, until it is repaired")), ("n_plus_1", _("No, it must go on"))],
        descriptions={"n_plus_1": _("one GPU or server more than needed, which takes over")},
        why=_("Going on through a failure takes spare hardware."),
    )


def profile() -> ChoiceQuestion:
    return ChoiceQuestion(
        _("When is it used?"),
        USE_PROFILES,
        descriptions={
            "seasonal": _("two months at the peak, two at 70% of it, the rest at 40%"),
            "counted": _("requests per hour of a day, a week or a year: the best way to know what to own"),
        },
        why=_(
            "The busy hours decide the cost of renting against owning, the energy, and what can run in between."
        ),
    )


def counts() -> CountsQuestion:
    return CountsQuestion(
        _("How many requests in each hour?"),
        help_text=_(
            "Paste 24, 168 or 8,760 lines from a spreadsheet: a count, or a time and a count. We keep only the counts. "
            "Never paste logs with names, addresses or texts."
        ),
        why=_("Whether the load is nearly always there or only at peaks decides what is cheaper to own."),
        shown_if=("profile", frozenset({"counted"})),
    )


# ── a language model in use ─────────────────────────────────────────────────────────────────────────────────────


def _serves_language(situation: Situation) -> bool:
    return situation.is_language and situation.serves


def _serves_people(situation: Situation) -> bool:
    return _serves_language(situation) and situation.use_case is not UseCase.DOCUMENT_EXTRACTION


def _serves_documents(situation: Situation) -> bool:
    return _serves_language(situation) and situation.use_case is UseCase.DOCUMENT_EXTRACTION


class LanguageServiceForm(StepForm):
    title = _("When it is used")

    people = NumberField(
        _("How many people may use it?"),
        low=1,
        high=100_000_000,
        whole=True,
        unit=_("people"),
        why=_("Not all of them at the same moment: that is the next question."),
        when=_serves_people,
    )
    at_once = ShareField(
        _("How many of them at once, at the busiest moment?"),
        low=1,
        high=10_000_000,
        units=("people", "mensen"),
        help_text=_("A number of people, such as 60, or a share of them, such as 20%."),
        why=_(
            "Everyone who waits for an answer or watches it being written takes working memory and computing power."
        ),
        when=_serves_people,
    )
    pages_day = NumberField(
        _("How many pages a day?"),
        low=1,
        high=1_000_000_000,
        whole=True,
        unit=_("pages"),
        why=_("Pages a day and the time they may take decide how many are read at the same moment."),
        when=_serves_documents,
    )
    done_within = AmountField(
        _("Within how much time must a day's pages be done?"),
        measures={"hours": HOURS["hours"]},
        low=Decimal("0.1"),
        high=24,
        why=_("The longer they may take, the smaller the system."),
        when=_serves_documents,
    )
    prompt = AmountField(
        _("How much text goes in with one question?"),
        measures=TEXT,
        low=1,
        high=100_000_000,
        help_text=TOKEN_HINT,
        why=_(
            "The model first reads everything: the question, what was said before, and the documents found for it."
        ),
        when=_serves_language,
    )
    output = AmountField(
        _("How long is the answer?"),
        measures=TEXT,
        low=1,
        high=10_000_000,
        why=_("Answers are written token by token; that takes most of the time."),
        when=_serves_language,
    )
    longest = AmountField(
        _("What is the longest text it must be able to read and write in one go?"),
        measures=TEXT,
        low=1,
        high=100_000_000,
        optional=True,
        help_text=_("Empty means: no longer than the usual question and answer."),
        why=_("Working memory must be there for the longest request, even if it is rare."),
        when=_serves_language,
    )
    pace = ChoiceQuestion(
        _("How fast should it answer?"),
        [
            ("quick", _("Quick")),
            ("normal", _("Normal")),
            ("relaxed", _("Relaxed")),
            ("none", _("No matter, as long as the work gets done")),
        ],
        descriptions={
            "quick": _("first word within 1 second, then 30 tokens a second: for code and short questions"),
            "normal": _(
                "first word within 2 seconds, then 20 tokens a second: three times as fast as reading"
            ),
            "relaxed": _(
                "first word within 5 seconds, then 10 tokens a second: somewhat faster than reading"
            ),
        },
        why=_("Speed for each person is often what limits a system, not memory."),
        when=_serves_people,
    )
    ttft_s = NumberField(
        _("Time to first token (TTFT) for 95% of requests"),
        low=Decimal("0.01"),
        high=3600,
        unit=_("seconds"),
        optional=True,
        can_skip=False,
        help_text=_("Empty: as chosen above."),
        why=_("Waiting in the queue plus reading the prompt; it explodes when a system is too busy."),
        expert=True,
        when=_serves_language,
    )
    tokens_s = NumberField(
        _("Output speed for each request"),
        low=Decimal("0.1"),
        high=10_000,
        unit=_("tokens/s"),
        optional=True,
        can_skip=False,
        help_text=_("Empty: as chosen above."),
        why=_("The step time of decoding; bandwidth and batch size decide it."),
        expert=True,
        when=_serves_language,
    )
    profile = profile()
    counts = counts()
    availability = availability()

    profile.when = counts.when = availability.when = _serves_language


# ── other models in use ─────────────────────────────────────────────────────────────────────────────────────────

_CAMERA = (Domain.VISION, Domain.DETECTION)
_PICTURE = (Domain.DIFFUSION, Domain.VIDEO)
_TEXT = (Domain.EMBEDDING, Domain.RERANK)
_ASKED_OTHERWISE = (*_CAMERA, *_PICTURE, *_TEXT, Domain.SPEECH)


def _serves_rate(*domains: Domain) -> Callable[[Situation], bool]:
    def applies(situation: Situation) -> bool:
        return not situation.is_language and situation.serves and situation.domain in domains

    return applies


class RateServiceForm(StepForm):
    title = _("When it is used")

    cameras = NumberField(
        _("How many cameras or other sources of images?"),
        low=1,
        high=1_000_000,
        whole=True,
        unit=_("cameras"),
        why=_("Every image has to be judged; cameras times speed is the number of images per second."),
        when=_serves_rate(*_CAMERA),
    )
    fps = NumberField(
        _("How many images per second does each give?"),
        low=Decimal("0.0001"),
        high=100_000,
        unit=_("images per second"),
        help_text=_(
            "Less than one is possible: one image in ten seconds is 0.1. Count only the images that are judged."
        ),
        why=_(
            "A camera may film faster than needed: judging every third image takes a third of the hardware."
        ),
        when=_serves_rate(*_CAMERA),
    )
    latency_ms = NumberField(
        _("Within how many milliseconds must one judgement be ready?"),
        low=Decimal("0.1"),
        high=3_600_000,
        unit=_("ms"),
        optional=True,
        can_skip=False,
        help_text=_("Empty: no hard limit."),
        why=_("A hard limit forbids large batches, which are what makes GPUs efficient."),
        expert=True,
        when=_serves_rate(*_CAMERA, Domain.RECOMMENDER),
    )
    at_edge = ChoiceQuestion(
        _("Where should it run?"),
        [
            ("server", _("In the server room or data centre")),
            ("edge", _("On the spot, on a small computer")),
            ("either", _("Either is fine")),
        ],
        why=_(
            "Small computers beside the machine need no fast network, but there is a limit to what they can do."
        ),
        when=_serves_rate(*_CAMERA, Domain.SPEECH),
    )
    speech_mode = ChoiceQuestion(
        _("Is the speech live or recorded?"),
        [
            ("live", _("Live: text appears while people speak")),
            ("recorded", _("Recordings, worked off later")),
        ],
        why=_("Live speech must keep up at the busiest moment; recordings can be spread over the day."),
        when=_serves_rate(Domain.SPEECH),
    )
    streams = NumberField(
        _("How many conversations at once, at the busiest moment?"),
        low=1,
        high=1_000_000,
        whole=True,
        unit=_("conversations"),
        why=_("Each live conversation has to be kept up with."),
        when=_serves_rate(Domain.SPEECH),
        shown_if=("speech_mode", frozenset({"live"})),
    )
    audio_hours = NumberField(
        _("How many hours of recordings a day?"),
        low=Decimal("0.1"),
        high=10_000_000,
        unit=_("hours"),
        help_text=_("We spread them over eight hours."),
        why=_("Hours of audio a day decide the speed that is needed."),
        when=_serves_rate(Domain.SPEECH),
        shown_if=("speech_mode", frozenset({"recorded"})),
    )
    images_hour = NumberField(
        _("How many pictures or clips in the busiest hour?"),
        low=1,
        high=100_000_000,
        unit=_("per hour"),
        why=_("Making one picture keeps a GPU busy for seconds, a clip for minutes."),
        when=_serves_rate(*_PICTURE),
    )
    steps = NumberField(
        _("Denoising steps"),
        low=1,
        high=1000,
        whole=True,
        optional=True,
        can_skip=False,
        help_text=_("Empty: the usual number for the model."),
        why=_("Time goes up in step with the number of steps."),
        expert=True,
        when=_serves_rate(*_PICTURE),
    )
    documents = NumberField(
        _("How many documents must be indexed?"),
        low=1,
        high=Decimal(10) ** 12,
        whole=True,
        unit=_("documents"),
        why=_("Each document is cut into pieces of about 450 tokens, and each piece becomes a vector."),
        when=_serves_rate(Domain.EMBEDDING),
    )
    pages = NumberField(
        _("How many pages has a document, on average?"),
        low=Decimal("0.01"),
        high=100_000,
        unit=_("pages"),
        why=_("Pages decide the number of pieces: about three for every two pages."),
        when=_serves_rate(Domain.EMBEDDING),
    )
    index_within = AmountField(
        _("Within how much time must the whole index be built?"),
        measures=HOURS,
        low=Decimal("0.1"),
        high=24 * 366,
        why=_("A new model means indexing everything again; the time for that sets the speed."),
        when=_serves_rate(Domain.EMBEDDING),
    )
    queries_s = NumberField(
        _("How many searches per second, at the busiest moment?"),
        low=Decimal("0.001"),
        high=10_000_000,
        unit=_("per second"),
        why=_("Every search asks for a calculation of its own."),
        when=_serves_rate(*_TEXT),
    )
    candidates = NumberField(
        _("How many results are put in order for each search?"),
        low=1,
        high=100_000,
        whole=True,
        unit=_("results"),
        why=_("Each result is read together with the question."),
        when=_serves_rate(Domain.RERANK),
    )
    items_s = NumberField(
        _("How many items per second, at the busiest moment?"),
        low=Decimal("0.0001"),
        high=1_000_000_000,
        unit=_("per second"),
        help_text=_("How many of them must be handled while it is busiest."),
        why=_("We compare this with what GPUs were measured to do."),
        when=_serves_rate(*(domain for domain in Domain if domain not in _ASKED_OTHERWISE)),
    )
    profile = profile()
    counts = counts()
    availability = availability()

    profile.when = counts.when = availability.when = _serves_rate(*Domain)

    def __init__(
        self, situation: Situation, stored: Mapping[str, Stored], data: Any = None, *, check: bool = False
    ) -> None:
        super().__init__(situation, stored, data, check=check)
        items = self.fields.get("items_s")
        if isinstance(items, NumberField) and situation.rate_model.item:
            items.unit = format_lazy("{} {}", situation.rate_model.item, _("per second"))
            if situation.rate_model.item_help:
                items.help_text = str(situation.rate_model.item_help)
