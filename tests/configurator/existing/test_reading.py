"""Pastes: what is read, what is kept, and that nothing whatsoever breaks the reader."""

import random
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.seed import seed_snapshot
from configurator.existing import PASTE_MAX, match, read_paste, scrubbed, write_machines
from configurator.existing.names import ALIASES, IN_FULL
from configurator.workload import ExistingGpu, ExistingMachine
from tests.configurator.existing import pastes

ACCELERATORS = seed_snapshot(date(2026, 12, 1)).accelerators


def only(text: str) -> ExistingMachine:
    reading = read_paste(text)
    assert reading.problem is None
    (machine,) = reading.machines
    return machine


@pytest.mark.parametrize(
    ("paste", "host", "driver", "skus"),
    [
        ("a100", "gpu01", "550.54.15", ["a100-pcie-40gb"] * 2),
        ("h100", "", "550.54.15", ["h100-sxm5-80gb"] * 8),
        ("3090", "", "535.183.01", ["geforce-rtx-3090"] * 4),
        ("v100", "", "450.80.02", ["v100-sxm2-32gb"] * 2),
        ("t4", "", "535.104.05", ["t4"] * 3),
        ("l40s", "", "550.54.15", ["l40s"]),
        ("mig", "", "535.274.02", ["a30"]),
        ("query", "", "580.126.09", ["a100-sxm4-80gb"] * 2),
        ("list", "", "", ["h200-sxm5-141gb", "h200-sxm5-141gb", "a100-pcie-40gb"]),
        ("rocm-old", "", "", [""]),
        ("rocm-new", "", "", ["", ""]),
        ("rocm-named", "", "", ["instinct-mi300x", "instinct-mi300x"]),
        ("amd-smi", "", "", ["", ""]),
        ("amd-static", "", "", ["instinct-mi300x"]),
        ("lost", "", "", [""]),
        ("amd-smi-table", "", "6.16.13", ["instinct-mi300x"] * 2),
        ("rocm-parts", "", "", [""]),
        ("orin", "", "540.4.0", [""]),
        ("610", "", "610.62", ["geforce-rtx-4090"]),
        ("query-610", "", "610.43.02", ["l4"]),
    ],
)
def test_machines_and_their_gpus(paste: str, host: str, driver: str, skus: list[str]) -> None:
    machine = only(pastes.ALL[paste])
    assert (machine.name, machine.driver) == (host, driver)
    assert [match(gpu.name, gpu.memory_mib, ACCELERATORS) for gpu in machine.gpus] == skus


READINGS = [
    # memory, used, utilisation, temperature, power, cap, ecc, throttled, divided, failing
    ("a100", 1, (40960, 38120, 12, 36, 41, 250, 2, "", False, False)),
    ("h100", 0, (81559, 76980, 100, 41, 662, 700, 0, "", False, False)),
    ("3090", 1, (24576, 22345, 97, 87, 279, 280, None, "", False, False)),
    ("3090", 2, (24576, 11, None, None, None, None, None, "", False, True)),
    ("v100", 0, (32510, 0, 0, 35, 43, 300, 0, "", False, False)),
    ("t4", 0, (15360, 120, 3, 41, 12.4, 70, None, "", False, False)),
    ("t4", 1, (15360, 15010, 99, 84, 69.9, 70, None, "power temperature", False, False)),
    ("t4", 2, (None, None, None, 41, None, 70, None, "", False, True)),
    ("mig", 0, (24576, 50, None, 47, 78, 165, None, "", True, False)),
    ("query", 0, (81920, 71254, 98, 86, 398.52, 400, 3, "power temperature", True, False)),
    ("query", 1, (81920, None, None, None, None, 400, None, "", False, True)),
    ("list", 2, (None, None, None, None, None, None, None, "", True, False)),
    ("rocm-old", 0, (None, None, 7, 31, 43, 300, None, "", False, False)),
    ("rocm-named", 0, (196592, 83923.34, 100, 71, 682, 750, None, "", False, False)),
    ("amd-smi", 1, (None, None, 64, 58, 258, 1000, None, "", False, False)),
    ("amd-smi-table", 0, (196592, 149820, 88, 49, 644, 750, 2, "", False, False)),
    ("amd-smi-table", 1, (196592, 283, None, None, None, 750, 0, "", True, False)),
    ("amd-metric", 0, (196592, 283, 34, 61, 320, None, None, "", False, False)),
    ("rocm-parts", 0, (None, None, 0, 42, 131, 750, None, "", True, False)),
    ("looped", 1, (23034, None, 7, None, None, None, None, "", False, False)),
    ("amd-smi-memory", 0, (24576, 24166.4, 100, 82, 183, None, None, "", False, False)),
]


@pytest.mark.parametrize(("paste", "index", "wanted"), READINGS)
def test_readings(paste: str, index: int, wanted: tuple[object, ...]) -> None:
    gpu = only(pastes.ALL[paste]).gpus[index]
    assert wanted == (
        gpu.memory_mib, gpu.memory_used_mib, gpu.utilisation_pct, gpu.temperature_c, gpu.power_w, gpu.power_cap_w,
        gpu.ecc_errors_count, " ".join(sorted(gpu.throttled_by)), gpu.divided, gpu.failing,
    )  # fmt: skip


def test_csv_without_its_line_of_names_tells_names_and_memory() -> None:
    machine = only("0, NVIDIA L4, 23034 MiB, 5 MiB, 0 %\n1, NVIDIA L4, 23034 MiB, 900 MiB, 3 %")
    assert [(gpu.name, gpu.memory_mib, gpu.utilisation_pct) for gpu in machine.gpus] == [
        ("NVIDIA L4", 23034, None)
    ] * 2


def test_names_alone_are_one_gpu_a_line() -> None:
    machine = only("NVIDIA H100 80GB HBM3\nNVIDIA H100 80GB HBM3\n")
    assert [match(gpu.name, None, ACCELERATORS) for gpu in machine.gpus] == ["h100-sxm5-80gb"] * 2
    assert read_paste("NVIDIA drivers break on Tuesdays").problem


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bash: nvidia-smi: command not found", "not found there"),
        ("'nvidia-smi' is not recognized as an internal or external command,", "not found there"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "no driver"),
        ("Failed to initialize NVML: Driver/library version mismatch", "no driver"),
        ("No devices were found", "reached no GPU"),
        ('<?xml version="1.0" ?>\n<nvidia_smi_log>', "Leave out -x"),
        ("pid, process_name, used_gpu_memory [MiB]\n4711, python, 12 MiB", "find no GPU"),
    ],
)
def test_a_paste_without_gpus_says_why(text: str, why: str) -> None:
    assert why in str(read_paste(text).problem)


def test_typed_by_a_person() -> None:
    machine = only("server: werkplaats\n2 x A100 40GB PCIe\nRTX 3090 x 4")
    assert machine.name == "werkplaats"
    assert [(gpu.count, match(gpu.name, None, ACCELERATORS)) for gpu in machine.gpus] == [
        (2, "a100-pcie-40gb"), (4, "geforce-rtx-3090"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("host: gpu01", "host: gpu02"),
        ("=== gpu01 ===", "== gpu02"),
        ("gpu01", "gpu02"),
        ("gpu01.example.nl", "gpu02.example.nl"),
        ("root@gpu01:/srv# nvidia-smi", "[root@gpu02 ~]# nvidia-smi"),
        ("gpu01 | CHANGED | rc=0 >>", "gpu02 | CHANGED | rc=0 >>"),
    ],
)
@pytest.mark.parametrize(
    "paste", [pastes.L40S_TABLE, pastes.OLD_V100, pastes.QUERY, pastes.T4_CSV, pastes.LISTED]
)
def test_several_machines_with_their_names(first: str, second: str, paste: str) -> None:
    reading = read_paste(f"{first}\n{paste}\n{second}\n{paste}")
    assert [machine.name for machine in reading.machines] == ["gpu01", "gpu02"]
    assert {len(machine.gpus) for machine in reading.machines} == {
        paste.count("GPU 0000") or len(only(paste).gpus)
    }


def test_a_name_before_every_line() -> None:
    text = "".join(f"{host}: {line}\n" for host in ("n1", "n2") for line in pastes.L40S_TABLE.splitlines())
    assert [(machine.name, len(machine.gpus)) for machine in read_paste(text).machines] == [
        ("n1", 1),
        ("n2", 1),
    ]


@pytest.mark.parametrize(
    "lines",
    ["GPU {n}: NVIDIA A30 (UUID: x)", "name, memory.total [MiB]|NVIDIA A30, 24576 MiB|NVIDIA A30, 24576 MiB"],
)
def test_machines_that_answer_through_each_other(lines: str) -> None:
    said = [lines.format(n=n) for n in range(2)] if "{n}" in lines else lines.split("|")
    text = "".join(f"{host}: {line}\n" for line in said for host in ("n1", "n2"))
    assert [(machine.name, len(machine.gpus)) for machine in read_paste(text).machines] == [
        ("n1", 2),
        ("n2", 2),
    ]


def test_machines_without_names_stay_apart() -> None:
    reading = read_paste(pastes.H100_EIGHT + pastes.RTX_3090_FOUR)
    assert [len(machine.gpus) for machine in reading.machines] == [8, 4]


def test_two_tools_about_one_machine_are_one_machine() -> None:
    listed = "".join(f"GPU {n}: Tesla V100-SXM2-32GB (UUID: {pastes.UUID})\n" for n in range(2))
    machine = only(pastes.OLD_V100 + listed)
    assert [(gpu.name, gpu.memory_mib) for gpu in machine.gpus] == [("Tesla V100-SXM2-32GB", 32510)] * 2


def test_the_same_machine_again_counts_once() -> None:
    reading = read_paste(pastes.A100_TWICE + "\n" + pastes.A100_TWICE)
    assert [(machine.name, len(machine.gpus)) for machine in reading.machines] == [("gpu01", 2)]


@pytest.mark.parametrize("paste", pastes.ALL)
def test_nothing_private_is_kept(paste: str) -> None:
    kept = write_machines(read_paste(pastes.ALL[paste]).machines) + repr(read_paste(pastes.ALL[paste]))
    for private in (pastes.UUID, pastes.SERIAL, "secret", "4711", "00:04.0", "c6d4f1ef"):
        assert private not in kept


def test_what_was_not_understood_keeps_no_ids() -> None:
    text = f"hello {pastes.UUID} there\nSerial Number : {pastes.SERIAL}\nthe end"
    assert scrubbed(text, 200) == "hello … there\nthe end"


@pytest.mark.parametrize(
    ("name", "memory_mib", "sku"),
    [
        ("NVIDIA A100 80GB PCIe", 81920, "a100-pcie-80gb"),
        ("NVIDIA A100-SXM4-40GB", 40536, "a100-sxm4-40gb"),
        ("NVIDIA A100-SXM...", 40960, "a100-sxm4-40gb"),
        ("NVIDIA H100 PCIe", 81559, "h100-pcie-80gb"),
        ("NVIDIA H100 NVL", 95830, "h100-nvl-94gb"),
        ("NVIDIA RTX A6000", 46068, "rtx-a6000"),
        ("NVIDIA RTX 6000 Ada Generation", 49140, "rtx-6000-ada"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 97887, "rtx-pro-6000-blackwell-workstation-edition"),
        ("NVIDIA RTX PRO 6000 Blackwell...", 97887, ""),  # three cards begin so, with the same memory
        ("NVIDIA GeForce ...", 24576, ""),
        ("NVIDIA H100 80G...", 81559, "h100-sxm5-80gb"),
        ("NVIDIA A100 80G...", 81920, "a100-pcie-80gb"),
        ("NVIDIA RTX 6000 Ada Gene...", 49140, "rtx-6000-ada"),
        ("NVIDIA GeForce RTX 5090 ...", 24463, ""),  # of a laptop
        ("Tesla P40", 22919, "p40"),
        ("NVIDIA A100-SXM4-80GB", 40960, ""),  # its memory is that of another card
        ("NVIDIA A10", 23028, "a10"),
        ("NVIDIA A10G", 23028, ""),
        ("Quadro RTX 6000", 24220, ""),
        ("", 24576, ""),
        ("RTX 3090 24GB", None, "geforce-rtx-3090"),  # as people type it
        ("L40S 48 GB", None, "l40s"),
        ("RTX 3090 12GB", None, ""),
        ("A100 80GB", None, ""),  # of two kinds
    ],
)  # fmt: skip
def test_names_of_drivers(name: str, memory_mib: float | None, sku: str) -> None:
    assert match(name, memory_mib, ACCELERATORS) == sku


def test_every_alias_is_an_article() -> None:
    assert {*ALIASES, *IN_FULL} <= {one.sku for one in ACCELERATORS}


# ── whatever comes ──────────────────────────────────────────────────────────────────────────────────────────────


def test_bounds() -> None:
    assert "too long" in str(read_paste("x" * (PASTE_MAX + 1)).problem)
    assert "no GPU" in str(read_paste("").problem)
    assert "at most" in str(read_paste("1000 x L4\n1000 x L4").problem)
    assert "at most" in str(read_paste("\n".join(f"=== h{n} ===\n1 x L4" for n in range(99))).problem)


@pytest.mark.parametrize(
    "unit", [" ", "|", "=", "GPU ", "1 x a", ",", ": ", "\n", "[", "- ", "a" * 50, "name, count\n"]
)
def test_long_runs_are_read_in_a_straight_line(unit: str) -> None:
    """Without a clock: patterns that go back and forth would not come to an end here."""
    read_paste((unit * PASTE_MAX)[:PASTE_MAX])


def test_blocks_of_one_name_that_contradict_each_other_are_one_machine() -> None:
    table = "|   {}  NVIDIA H100 80GB HBM3          On  |   00000000:BB:00.0 Off |                    0 |"
    listed = "GPU {}: NVIDIA H200 (UUID: GPU-5428af19-1e82-a38c-ee42-cdd3ad745b7e)"
    newer = read_paste("\n".join(["gpu01", table.format(0), "gpu01", listed.format(0)])).machines
    fuller = read_paste(
        "\n".join(["gpu01", table.format(0), table.format(1), "gpu01", listed.format(0)])
    ).machines
    assert [(one.name, [gpu.name for gpu in one.gpus]) for one in newer] == [("gpu01", ["NVIDIA H200"])]
    assert [(one.name, one.gpu_count) for one in fuller] == [("gpu01", 2)]


lines = st.sampled_from([line for paste in pastes.ALL.values() for line in paste.splitlines()])
odd = st.one_of(st.text(max_size=60), lines, st.from_regex(r"[|,: x0-9A-Z%/.!]{0,60}", fullmatch=True))


@settings(max_examples=150, deadline=None)
@given(parts=st.lists(odd, max_size=40), seed=st.integers(0, 2**16))
def test_any_text_is_read_and_its_clean_copy_says_the_same(parts: list[str], seed: int) -> None:
    rng = random.Random(seed)
    text = "\n".join(
        part if rng.random() < 0.7 else part[rng.randrange(len(part) + 1) :].replace(" ", rng.choice(" 9N|"))
        for part in parts
    )
    machines = read_paste(text).machines
    if machines:
        assert read_paste(write_machines(machines)).machines == machines


gpus = st.builds(
    ExistingGpu,
    name=st.sampled_from(["NVIDIA L4", "Tesla V100-SXM2...", "", "AMD Instinct MI300X OAM"]),
    sku=st.sampled_from(["", "l4"]),
    count=st.integers(1, 9),
    memory_mib=st.none() | st.integers(20_000, 30_000).map(float),
    memory_used_mib=st.none() | st.integers(0, 19_999).map(float),
    utilisation_pct=st.none() | st.integers(0, 100).map(float),
    temperature_c=st.none() | st.integers(0, 110).map(float),
    power_w=st.none() | st.decimals(0, 1000, places=2).map(float),
    power_cap_w=st.none() | st.decimals(1, 1000, places=2).map(float),
    ecc_errors_count=st.none() | st.integers(0, 1000),
    throttled_by=st.frozensets(st.sampled_from(["temperature", "power"])),
    divided=st.booleans(),
    failing=st.booleans(),
)
machines = st.builds(
    ExistingMachine,
    name=st.sampled_from(["", "gpu01"]) | st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True),
    driver=st.sampled_from(["", "550.54.15"]),
    gpus=st.lists(gpus, min_size=1, max_size=4).map(tuple),
    pasted=st.just(True),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(machines, min_size=1, max_size=4, unique_by=lambda machine: machine.name or id(machine)))
def test_the_clean_copy_loses_nothing(found: list[ExistingMachine]) -> None:
    assert read_paste(write_machines(found)).machines == tuple(found)
