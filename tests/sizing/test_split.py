"""Prompt and answer workers: the laws of their closed network, and when splitting a service is worth a trial."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from catalog.quantity import Quantity
from configurator.workload import ModelRef
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import Estimate, LoadOption, SplitLayout
from quotes.sizing.serving import split_layout
from quotes.sizing.serving.calibration import load_calibration
from quotes.sizing.serving.queueing import mean_wait_seconds, wait_quantile_seconds
from quotes.sizing.serving.split import AnswerStation, Circling, PromptStation, circling
from quotes.sizing.trace import Badge
from tests.sizing.language import (
    B200,
    GPT_OSS,
    H100,
    H200,
    L40S,
    LLAMA_8B,
    LLAMA_70B,
    MI300X,
    R1,
    gpu,
    model,
    options,
    service,
)

type Values = NDArray[np.float64]


def step(batch: Values) -> Values:
    """Half linear: twice the answers take less than twice as long."""
    return 0.01 + 0.0002 * np.maximum(batch, 1.0)


def network(
    requests: float = 100,
    readers: float = 1,
    writers: float = 2,
    prompt_s: float = 0.05,
    most: float = np.inf,
) -> Circling:
    return circling(
        requests, PromptStation(readers, prompt_s, prompt_s + 0.02), AnswerStation(writers, 500.0, step, most)
    )


REQUESTS, WORKERS, PROMPT = st.floats(1, 2000), st.integers(1, 8), st.floats(0.001, 2)


@given(REQUESTS, WORKERS, WORKERS, PROMPT)
def test_no_request_is_lost(requests: float, readers: int, writers: int, prompt_s: float) -> None:
    """Little's law, and no prompt worker is busier than always."""
    found = network(requests, readers, writers, prompt_s)
    assert float(found.requests_s * (found.ttft_s + 500 * found.step_s)) == pytest.approx(requests)
    assert 0 < float(found.prompts_busy) < 1 + 1e-6
    assert float(found.batch) <= requests / writers * (1 + 1e-9)
    assert float(found.ttft_s) == pytest.approx(float(found.wait_s) + prompt_s + 0.02, rel=1e-3, abs=1e-6)


@given(REQUESTS, WORKERS, WORKERS, PROMPT)
def test_more_prompt_workers_never_make_anybody_wait_longer(
    requests: float, readers: int, writers: int, prompt_s: float
) -> None:
    now, more = (network(requests, count, writers, prompt_s) for count in (readers, readers + 1))
    assert float(more.wait_s) <= float(now.wait_s) * (1 + 1e-6) + 1e-9
    assert float(more.requests_s) >= float(now.requests_s) * (1 - 1e-6)


def test_requests_queue_for_prompts_once_these_are_the_bottleneck() -> None:
    """One reader of 0.05 s hands on 20 a second, however many requests circle; all others wait for it."""
    found = [network(requests, writers=20) for requests in (1000, 2000)]
    assert [float(one.requests_s) for one in found] == pytest.approx([20, 20], rel=0.01)
    assert float(found[1].wait_s - found[0].wait_s) == pytest.approx(50, rel=0.01)
    assert float(network(10).wait_s) < 0.05


def test_who_finds_no_place_among_the_answers_waits_for_one() -> None:
    free, full = network(200, 4), network(200, 4, most=20)
    assert float(full.batch) == pytest.approx(20)
    assert float(full.step_s) < float(free.step_s)
    assert float(full.ttft_s) > 20 * float(free.ttft_s)


@given(st.floats(0.05, 0.95), st.integers(1, 30), st.floats(0, 2))
def test_one_queue_for_several_servers_is_shorter(rho: float, servers: int, variation: float) -> None:
    """At the same load of each; one server is the textbook case."""
    waits = [
        float(mean_wait_seconds(rho * count / 0.1, 0.1, variation, count))
        for count in (1, servers, servers + 1)
    ]
    assert waits[0] == pytest.approx(rho * 0.1 * (1 + variation**2) / 2 / (1 - rho))
    assert waits[0] >= waits[1] > waits[2]


def test_late_requests_wait_longer_than_the_mean() -> None:
    for servers in (1, 4):
        late = float(wait_quantile_seconds(9.0 * servers, 0.1, 0.5, servers=servers))
        assert late > 2 * float(mean_wait_seconds(9.0 * servers, 0.1, 0.5, servers))


# ── an extra layout ─────────────────────────────────────────────────────────────────────────────────────────────

BUSY = {"concurrent_requests": 200, "prompt_tokens": 8000, "output_tokens": 500}
STATED = {"ttft_p95_s": 3.0, "tokens_s_per_user": 30.0}


def split(
    card: str, key: str, assumptions: Assumptions | None = None, **changes: object
) -> SplitLayout | None:
    """Of the option with the fewest GPUs."""
    asked, assumptions = service(model=ModelRef(key=key), **changes), assumptions or Assumptions()
    option = options(asked, model(key), gpu(card), assumptions=assumptions)[0]
    found = split_layout(option, asked, model(key), gpu(card), 8, assumptions, load_calibration())
    if found:
        used = (
            found.prompt_workers * found.prompt_layout.gpus + found.answer_workers * found.answer_layout.gpus
        )
        assert used <= option.gpus - option.spare_replicas * option.gpus_per_replica
        assert found.answer_layout.gpus <= option.gpus_per_replica
        assert not found.worth or promised(found)[1].low > promised(option)[1].low
        for divided, whole in zip(promised(found), promised(option), strict=True):
            assert divided.high / divided.low > whole.high / whole.low
    return found


def promised(layout: LoadOption | SplitLayout) -> tuple[Estimate, Estimate]:
    first, rate = layout.speed.ttft_p95_s, layout.speed.tokens_s_per_user
    assert first
    assert rate
    return first, rate


@pytest.mark.parametrize(
    ("card", "key", "asked", "worth"),
    [
        (H200, GPT_OSS, BUSY | STATED, True),
        (H100, LLAMA_70B, BUSY | STATED, True),
        (H200, R1, STATED | {"concurrent_requests": 40}, False),  # short prompts hold nobody up
        (H100, LLAMA_70B, BUSY, False),  # nothing but throughput is asked: readers have no time left
        (MI300X, LLAMA_70B, STATED | {"concurrent_requests": 60}, True),
        (MI300X, LLAMA_70B, STATED | {"prompt_tokens": 300}, False),
    ],
)
def test_when_splitting_is_worth_a_trial(card: str, key: str, asked: dict[str, float], worth: bool) -> None:
    found = split(card, key, None, **asked)
    assert found
    assert found.worth is worth
    assert found.reason.text.startswith("Worth" if worth else "Not worth")
    first, rate = promised(found)
    assert {first.badge, rate.badge} == {Badge.EXTRAPOLATED}


@pytest.mark.parametrize(
    ("card", "key", "requests"), [(L40S, LLAMA_70B, 100), (H200, LLAMA_8B, 2), (H100, GPT_OSS, 2)]
)
def test_what_cannot_be_split_is_not(card: str, key: str, requests: int) -> None:
    """Cards without links, one accelerator, and a model that fills the only replica there is."""
    assert split(card, key, concurrent_requests=requests) is None


def test_a_slower_handover_delays_the_first_token() -> None:
    found = [
        split(B200, LLAMA_70B, Assumptions(split_handover_s=seconds), concurrent_requests=40, **STATED)
        for seconds in (0.1, 0.6)
    ]
    quick, slow = (promised(one)[0].value for one in found if one)
    assert slow == pytest.approx(quick + 0.5, rel=0.1)


def test_what_is_unfolded_adds_up() -> None:
    """The figures of the page, calculated again from what they were made of."""
    found = split(H100, LLAMA_70B, None, **BUSY, **STATED)
    assert found
    first, rate = found.figures
    fixed, further, gpus, prompt, ratio, transfer, handover, steps, token, wait, _busy, spread = (
        item.value.value for item in first.inputs if isinstance(item.value, Quantity)
    )
    alone = ratio * (fixed + further * (gpus - 1) + prompt) + transfer + handover + steps * token
    assert first.value.value * 1e3 == pytest.approx(alone + np.hypot(wait, 1.645 * spread * ratio * prompt))
    assert rate.value.value == pytest.approx(1e3 / token)
    assert "split_handover_s" in {item.assumption for item in first.inputs}
