"""The data files: what is in them, checked by hand on samples, and what is said of a file with a mistake."""

import csv
import math
import shutil
from collections import Counter
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from catalog.kinds import KINDS
from catalog.seed import DATA, read_seed, seed, seed_snapshot
from catalog.seed_rows import SeedError
from catalog.specs import (
    AcceleratorSpec,
    Availability,
    CatalogSnapshot,
    Confidence,
    ServerSpec,
    ServerStatus,
    ServiceSpec,
)

DAY = date(2026, 12, 1)


@pytest.fixture(scope="module")
def catalog() -> CatalogSnapshot:
    return seed_snapshot(DAY)


def accelerator(catalog: CatalogSnapshot, sku: str) -> AcceleratorSpec:
    return next(each for each in catalog.accelerators if each.sku == sku)


def server(catalog: CatalogSnapshot, sku: str) -> ServerSpec:
    return next(each for each in catalog.servers if each.sku == sku)


# ── how much there is ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("field", "at_least"),
    [
        ("accelerators", 82), ("servers", 86), ("cpus", 89), ("memory", 9), ("drives", 36), ("nics", 17),
        ("switches", 16), ("cables", 33), ("storage_systems", 6), ("racks", 6), ("pdus", 10), ("cooling", 11),
        ("accessories", 30), ("services", 33), ("cloud_offers", 60), ("models", 60), ("prices", 419),
    ],
)  # fmt: skip
def test_the_catalog_is_large_enough(catalog: CatalogSnapshot, field: str, at_least: int) -> None:
    assert len(getattr(catalog, field)) >= at_least


def test_servers_keep_their_status(catalog: CatalogSnapshot) -> None:
    assert Counter(each.status for each in catalog.servers) == {
        ServerStatus.BUILDABLE: 50,
        ServerStatus.INCOMPLETE: 19,
        ServerStatus.COMPLETE_SYSTEM: 14,
        ServerStatus.SPECIAL_RACK: 2,
        ServerStatus.PART_OF_RACK: 1,
    }


def test_articles_named_in_words_have_a_dutch_name(catalog: CatalogSnapshot) -> None:
    """Memory modules are written the same in both languages."""
    worded = [
        item for item in catalog.items.values()
        if item.vendor == "Generic" or isinstance(item, ServiceSpec)
    ]  # fmt: skip
    assert {item.sku for item in worded if not item.name_nl} == {item.sku for item in catalog.memory}


# ── samples checked by hand against the vendor's or the reference's figures ─────────────────────────────────────


@pytest.mark.parametrize(
    ("sku", "figures"),
    [
        ("h100-sxm5-80gb", {"memory_mib": 81_559, "memory_bandwidth_gb_s": 3350, "bf16_tflops": 989, "power_w": 700,
                            "link_gb_s": 900, "link_max_count": 8, "link_kind": "switch", "board_count": 8,
                            "board_sku": "hgx-h100-8-gpu-board"}),
        ("l40s", {"memory_mib": 46_068, "memory_bandwidth_gb_s": 864, "bf16_tflops": 362, "fp8_tflops": 733,
                  "power_w": 350, "link_kind": "none", "link_max_count": 0, "board_sku": None, "slots_wide": 2}),
        ("h200-nvl-141gb", {"memory_mib": 143_771, "link_kind": "bridge", "link_max_count": 4, "power_w": 600}),
        ("instinct-mi300x", {"memory_mib": 196_592, "link_kind": "mesh", "link_max_count": 8, "fp4_tflops": None}),
        ("b300-sxm-288gb", {"memory_mib": 275_040, "memory_gb_label": 288, "fp4_tflops": 13_500}),
        ("gb200", {"availability": Availability.PART_OF_SYSTEM, "link_max_count": 72}),
        ("h20-96gb", {"availability": Availability.NOT_IN_EU}),
        ("tpu-v6e", {"availability": Availability.CLOUD_ONLY, "memory_mib": None, "power_w": None}),
        ("jetson-agx-orin-64gb", {"availability": Availability.EDGE, "memory_mib": 62_841}),
    ],
)  # fmt: skip
def test_accelerator_figures(catalog: CatalogSnapshot, sku: str, figures: dict[str, object]) -> None:
    found = accelerator(catalog, sku)
    assert {name: getattr(found, name) for name in figures} == figures


def test_server_figures(catalog: CatalogSnapshot) -> None:
    found = server(catalog, "SYS-821GE-TNHR")
    assert found.accelerators == {"h100-sxm5-80gb", "h200-sxm5-141gb"}
    assert (found.rack_units, found.dimm_slots, found.nvme_bays, found.free_x16_slots) == (8, 32, 16, 10)
    assert (found.psu_surviving_w, found.base_power_w, found.fan_pct) == (12_000, 1260, 15)
    assert found.cpu_families == {"Xeon 4th gen", "Xeon 5th gen"}
    assert set(found.provenance.estimated_fields) >= {"base_power_w", "fan_pct"}
    assert "depth_mm" in found.provenance.weaker_fields
    assert "rack_units" not in found.provenance.weaker_fields
    assert found.provenance.weaker_confidence is Confidence.RECHECK
    assert found.provenance.confidence is Confidence.SECONDARY


@pytest.mark.parametrize(
    ("sku", "speeds"),
    [
        ("epyc-9555", (6000, None)),
        ("xeon-6767p", (6400, 5200)),
        ("xeon-platinum-8480-plus", (4800, 4400)),
        ("xeon-silver-4510", (4400, 4400)),
        ("xeon-gold-6548y-plus", (5200, None)),
    ],
)
def test_memory_speeds_of_cpus(catalog: CatalogSnapshot, sku: str, speeds: tuple[int, int | None]) -> None:
    found = next(each for each in catalog.cpus if each.sku == sku)
    assert (found.memory_speed_mt_s, found.memory_speed_2dpc_mt_s) == speeds


def test_networks(catalog: CatalogSnapshot) -> None:
    switches = {each.sku: each for each in catalog.switches}
    assert (switches["QM9700"].fabric, switches["QM9700"].ports, switches["QM9700"].cages) == (
        "infiniband",
        64,
        32,
    )
    assert switches["SN5600"].fabric == "ethernet"
    assert (switches["SN2201"].uplink_ports, switches["SN2201"].uplink_gbit_s) == (4, 100)
    cables = {each.sku: each for each in catalog.cables}
    twin = cables["MMA4Z00-NS"]
    assert (twin.kind, twin.ports, twin.gbit_s) == ("optic", 2, 400)
    assert (cables["MCP7Y00-N002"].kind, cables["MCP7Y00-N002"].ports) == ("dac", 2)


def test_a_bridge_names_what_it_joins(catalog: CatalogSnapshot) -> None:
    bridges = {each.sku: each for each in catalog.accessories if each.kind == "bridge"}
    four = bridges["nvlink-bridge-4-way-h200-nvl"]
    assert (four.accelerators, four.count) == (frozenset({"h200-nvl-141gb"}), 4)


@pytest.mark.parametrize(
    ("key", "figures"),
    [
        ("meta-llama/Meta-Llama-3.1-70B", {"layers": 80, "kv_heads": 8, "head_dim": 128, "native_format": "bf16",
                                           "total_params_b": 70.554, "full_layers": 80}),
        ("deepseek-ai/DeepSeek-R1", {"kv_rank": 512, "rope_dim": 64, "experts": 256, "dense_layers": 3,
                                     "mtp_layers": 1, "native_format": "fp8", "shared_expert_width": 2048}),
        ("openai/gpt-oss-120b", {"sliding_layers": 18, "sliding_window": 128, "native_format": "mxfp4",
                                 "full_layers": 18, "feed_forward": 0}),
        ("Qwen/Qwen3.5-397B-A17B", {"linear_layers": 45, "full_layers": 15, "multimodal": True}),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", {"full_layers": 6, "linear_layers": 23,
                                                        "attentionless_layers": 23, "gated_feed_forward": False}),
        ("google/gemma-4-26B-A4B", {"kv_heads": 2, "head_dim": 512, "sliding_kv_heads": 8, "sliding_head_dim": 256}),
        ("google/gemma-3-27b-it", {"sliding_layers": 52, "full_layers": 10, "tied_embeddings": True}),
        ("nvidia/Qwen3-235B-A22B-NVFP4", {"native_format": "nvfp4", "quantised_from": "Qwen/Qwen3-235B-A22B"}),
    ],
)  # fmt: skip
def test_model_dimensions(catalog: CatalogSnapshot, key: str, figures: dict[str, object]) -> None:
    found = catalog.models_by_key[key]
    assert {name: getattr(found, name) for name in figures} == figures


def test_cloud_prices_are_in_euro_by_the_rate_of_the_row(catalog: CatalogSnapshot) -> None:
    offer = next(each for each in catalog.cloud_offers if each.sku == "aws-eu-north-1-p5.48xlarge")
    assert (offer.hourly.amount, offer.hourly.currency) == (Decimal("58.8928"), "USD")
    assert offer.hourly_eur == Decimal("54.1814")  # 58.8928 × 0.92
    assert (offer.in_eu, offer.accelerator_sku, offer.accelerator_count) == (True, "h100-sxm5-80gb", 8)
    for each in catalog.cloud_offers:
        assert each.hourly.currency == "EUR" or each.exchange_rate_on, each.sku


def test_cloud_prices_without_a_currency_wait(catalog: CatalogSnapshot) -> None:
    waiting = [row for row in seed().of("cloud_offer") if not row.active]
    assert {row.values["vendor"] for row in waiting} == {"OVHcloud", "GCP"}
    assert all(row.values["inactive_reason"] for row in waiting)
    assert not {row.identifier for row in waiting} & set(catalog.items)


def test_old_cloud_prices_are_historic(catalog: CatalogSnapshot) -> None:
    old = [each for each in catalog.cloud_offers if each.priced_on and each.priced_on < date(2025, 1, 1)]
    assert old
    assert all(each.historic for each in old)


# ── laws over all rows ──────────────────────────────────────────────────────────────────────────────────────────


def test_every_row_has_a_source_and_a_date(catalog: CatalogSnapshot) -> None:
    for kind in KINDS.values():
        for each in getattr(catalog, kind.snapshot_field):
            assert each.provenance.source, each
            assert each.provenance.checked_on, each


def test_estimated_and_weaker_fields_are_figures(catalog: CatalogSnapshot) -> None:
    for kind in KINDS.values():
        columns = set(kind.columns)
        for each in getattr(catalog, kind.snapshot_field):
            assert {*each.provenance.estimated_fields, *each.provenance.weaker_fields} <= columns, each


def test_a_driver_never_reports_more_than_the_label(catalog: CatalogSnapshot) -> None:
    for each in catalog.accelerators:
        if each.memory_mib is not None:
            assert each.memory_mib <= each.memory_gb_label * 1024, each.sku


def test_rates_are_dense_and_of_one_kind_of_accumulation(catalog: CatalogSnapshot) -> None:
    """Half the bits, twice the rate: four times means that one of the two counts sparsity or a shorter accumulator."""
    sold = [each for each in catalog.accelerators if each.availability is not Availability.ANNOUNCED]
    for each in sold:
        if each.bf16_tflops is None:
            continue
        assert (each.fp8_tflops or 0) <= 2.03 * each.bf16_tflops, each.sku
        cuts_integers = each.architecture in ("Blackwell Ultra", "Grace Blackwell Ultra")
        whole = {1, 2} | ({4} if each.sku.startswith("geforce") else set())  # GeForce halves sums in 32 bit
        if each.int8_tops and not cuts_integers and each.vendor == "NVIDIA":
            assert any(abs(each.int8_tops / each.bf16_tflops / times - 1) < 0.02 for times in whole), each.sku
    fourfold = {each.sku for each in sold if (each.fp4_tflops or 0) > 2.03 * (each.fp8_tflops or math.inf)}
    assert fourfold == {
        "b300-sxm-288gb",
        "gb300",
        "geforce-rtx-5090",
    }  # FP4 units of their own; sums in 32 bit


def test_supplies_bear_what_the_maker_plans_for(catalog: CatalogSnapshot) -> None:
    for each in catalog.servers:
        if each.psu_count and each.psu_w and each.planning_power_w:
            assert each.planning_power_w <= each.psu_count * each.psu_w, each.sku
            needed, _, spare = each.psu_redundancy.partition("+")
            if needed.isdigit():
                assert int(needed) + int(spare) == each.psu_count, each.sku


def test_sizes_are_in_their_units(catalog: CatalogSnapshot) -> None:
    """Pounds, inches, MB/s or prices per box instead of per piece would stand out."""
    for server in catalog.servers:
        if server.rack_units and server.weight_kg:
            assert 2 < server.weight_kg / server.rack_units < 40, server.sku
    for pdu in catalog.pdus:
        assert pdu.power_kw == pytest.approx(pdu.phases * pdu.amps * pdu.volts / 1000, rel=0.05), pdu.sku  # type: ignore[operator]
    for switch in catalog.switches:
        assert switch.ports % (switch.cages or switch.ports) == 0, switch.sku
    lanes = {nic.sku for nic in catalog.nics if nic.ports * nic.port_gbit_s > 32 * (nic.pcie_lanes or 0)}
    # The first two run on PCIe 6; the ports of the last carry together what one of them may.
    assert lanes == {
        "connectx-8-c8180-1x800g-osfp", "connectx-8-c8240-2x400g-qsfp112", "bluefield-3-b3240-2x400g",
    }  # fmt: skip


def test_no_price_stands_out(catalog: CatalogSnapshot) -> None:
    def spread(prices: list[float]) -> float:
        return max(prices) / min(prices)

    eur = {sku: float(price.amount.amount) for sku, price in catalog.prices.items()}
    assert spread([eur[each.sku] / each.capacity_gb for each in catalog.memory]) < 1.5
    for kind in ("nvme", "boot", "hdd"):
        assert spread([eur[each.sku] / each.capacity_gb for each in catalog.drives if each.kind == kind]) < 3
    per_core = [eur[each.sku] / each.cores for each in catalog.cpus if each.sku in eur and each.cores > 8]
    assert spread(per_core) < 8
    assert all(1 <= (price.lead_time_weeks or 0) <= 52 for price in catalog.prices.values())


def test_cards_of_several_devices_are_not_sized_as_one(catalog: CatalogSnapshot) -> None:
    several = [each for each in catalog.accelerators if each.device_count > 1]
    assert {each.sku for each in several} == {"a16", "instinct-mi250x", "cloud-ai-100-ultra"}
    assert all(each.memory_mib is None for each in several)


def test_estimated_memory_lies_below_what_its_family_reports(catalog: CatalogSnapshot) -> None:
    estimated = [each for each in catalog.accelerators if "memory_mib" in each.provenance.estimated_fields]
    assert {"instinct-mi325x", "a2", "rtx-pro-4000-blackwell"} <= {each.sku for each in estimated}
    for each in estimated:
        assert each.memory_mib is not None
        assert each.memory_mib % 64 == 0
        assert 0.9 * each.memory_gb_label * 1024 < each.memory_mib <= each.memory_gb_label * 1024


def test_every_price_belongs_to_an_article(catalog: CatalogSnapshot) -> None:
    assert set(catalog.prices) <= set(catalog.items)
    assert all(price.demonstration and price.indicative for price in catalog.prices.values())
    assert all(price.category for price in catalog.prices.values())


def test_everything_to_order_has_a_price(catalog: CatalogSnapshot) -> None:
    """Percentage services excepted, and the tray that is only sold inside a rack."""
    unpriced = {
        sku for sku, item in catalog.items.items()
        if sku not in catalog.prices and not sku.startswith("svc-")
        and type(item).__name__ not in ("AcceleratorSpec", "CloudOffer")
    }  # fmt: skip
    assert unpriced == {"ARS-121GL-NB3-LCC"}
    services = [each for each in catalog.services if each.sku not in catalog.prices]
    assert all(each.pct_of_hardware is not None for each in services)


def test_an_orderable_accelerator_resolves_to_a_priced_article(catalog: CatalogSnapshot) -> None:
    sold_alone = {Availability.ORDERABLE, Availability.END_OF_SALE, Availability.EDGE}
    without = {
        each.sku for each in catalog.accelerators
        if each.availability in sold_alone and catalog.price_eur(each.order_sku) is None
    }  # fmt: skip
    # No longer sold as a board.
    assert without == {"a100-sxm4-40gb", "instinct-mi250x", "gaudi-2"}
    assert all(each.order_sku in catalog.items for each in catalog.accelerators)


def test_buildable_servers_have_what_composition_needs(catalog: CatalogSnapshot) -> None:
    needed = (
        "rack_units", "cpu_sockets", "cpu_socket", "cpu_families", "cpu_power_max_w", "dimm_slots", "memory_max_gb",
        "nvme_bays", "nvme_forms", "boot_m2_count", "free_x16_slots", "psu_count", "psu_w", "psu_redundancy",
        "base_power_w", "fan_pct", "psu_surviving_w",
    )  # fmt: skip
    for each in catalog.servers:
        if each.status is not ServerStatus.BUILDABLE:
            continue
        empty = [name for name in needed if getattr(each, name) in (None, "", 0, frozenset())]
        assert not empty, (each.sku, empty)
        cpus = [cpu for cpu in catalog.cpus if each.takes_cpu(cpu)]
        assert cpus, f"no CPU of the catalog fits {each.sku}"
        assert any(drive.form in each.nvme_forms for drive in catalog.drives), each.sku
        assert bool(each.accelerators) == (each.max_accelerators > 0), each.sku


def test_accelerators_of_a_server_stay_within_its_power(catalog: CatalogSnapshot) -> None:
    too_much = {
        (each.sku, sku)
        for each in catalog.servers
        if each.status is ServerStatus.BUILDABLE and each.accelerators
        for sku in each.accelerators
        if (accelerator(catalog, sku).power_w or 0) > (each.accelerator_power_max_w or 0)
    }
    # The vendor lists this card for the chassis with its power set lower, which nothing here sells.
    assert too_much == {("thinksystem-sr650a-v4", "rtx-pro-6000-blackwell-server-edition")}


@pytest.mark.parametrize(
    ("server_sku", "parts", "dc_w"),
    [
        ("SYS-821GE-TNHR", {"xeon-platinum-8568y-plus": 2, "ddr5-64gb-5600": 32, "pm9a3-7.68tb-u.2": 4,
                            "m.2-nvme-boot-960gb": 2, "h200-sxm5-141gb": 8, "MCX75310AAS-NEAT": 8,
                            "bluefield-3-b3220-2x200g": 1}, 9474),
        ("AS-8126GS-TNMR", {"epyc-9575f": 2, "ddr5-96gb-6400": 24, "pm9d3a-7.68tb-u.2": 4, "m.2-nvme-boot-960gb": 2,
                            "instinct-mi325x": 8, "pensando-pollara-400": 8, "MCX623106AN-CDAT": 1}, 11_981),
        ("SYS-422GS-NB3RT-LCC", {"xeon-6776p": 2, "ddr5-96gb-6400": 32, "9550-pro-7.68tb-e1.s": 8,
                                 "m.2-nvme-boot-960gb": 2, "b300-sxm-288gb": 8, "bluefield-3-b3240-2x400g": 1}, 11_542),
        ("AS-2126HS-TN", {"epyc-9555": 2, "ddr5-64gb-6400": 24, "pm9d3a-7.68tb-u.2": 4, "m.2-nvme-boot-960gb": 2,
                          "AOC-A25G-m2S": 1}, 1183),
    ],
)  # fmt: skip
def test_watts_of_checked_builds(
    catalog: CatalogSnapshot, server_sku: str, parts: dict[str, int], dc_w: int
) -> None:
    """Base and parts, plus the fans: the published worked builds."""
    chassis = server(catalog, server_sku)
    assert chassis.base_power_w is not None
    assert chassis.fan_pct is not None
    watts = chassis.base_power_w + sum(catalog.items[sku].power_w * count for sku, count in parts.items())  # type: ignore[attr-defined]
    assert round(watts * (1 + chassis.fan_pct / 100)) == dc_w


def test_one_service_per_purpose(catalog: CatalogSnapshot) -> None:
    purposes = Counter(each.purpose for each in catalog.services if each.purpose)
    assert set(purposes.values()) == {1}
    assert len(purposes) == 15


def test_storage_licences_and_quantised_models_point_at_rows(catalog: CatalogSnapshot) -> None:
    for system in catalog.storage_systems:
        assert system.licence_sku is None or system.licence_sku in catalog.items
    bases = {each.quantised_from for each in catalog.models if each.quantised_from}
    assert bases
    assert bases <= set(catalog.models_by_key)


def test_margins_stay_out_of_the_snapshot(catalog: CatalogSnapshot) -> None:
    assert len(seed().margins) == 23
    assert "margin" not in catalog.model_dump_json()


# ── mistakes ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def data(tmp_path: Path) -> Path:
    target = tmp_path / "data"
    shutil.copytree(DATA, target)
    return target


def change_cell(file: Path, sku: str, column: str, value: str) -> int:
    """Overwrite one cell and return the line it stands on."""
    with file.open(newline="") as stream:
        reader = csv.DictReader(stream)
        names, rows = list(reader.fieldnames or ()), list(reader)
    number = next(index for index, row in enumerate(rows) if row["sku"] == sku)
    rows[number][column] = value
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(rows)
    return number + 2


@pytest.mark.parametrize(
    ("file", "sku", "column", "value", "sentence"),
    [
        ("cpus.csv", "epyc-9124", "cores", "sixteen", "valid integer"),
        ("cpus.csv", "epyc-9124", "cores", "", "Field required"),
        ("accelerators.csv", "l40s", "form_factor", "pci", "'sxm'"),
        ("accelerators.csv", "l40s", "active", "no", "say why the row is not active"),
        ("drives.csv", "exos-x20-20tb", "kind", "disk", "'nvme'"),
        ("prices.csv", "l40s", "amount", "8.600,00", "valid decimal"),
        ("prices.csv", "l40s", "amount", "-1", "greater than or equal to 0"),
        ("prices.csv", "l40s", "sku", "l40sx", "there is no article 'l40sx'"),
        (
            "cloud_offers.csv",
            "runpod-any-l4-24gb-pcie",
            "accelerator_sku",
            "l5",
            "there is no accelerator 'l5'",
        ),
        ("accessories.csv", "hgx-h200-8-gpu-board", "accelerators", "h300", "there is no accelerator 'h300'"),
        ("memory.csv", "ddr5-64gb-5600", "category", "ram", "margins.csv has no category 'ram'"),
        ("racks.csv", "AR3357", "sku", "l40s", "is taken by accelerators.csv"),
        (
            "storage_systems.csv",
            "nvme-scale-out-node-16x7.68tb",
            "licence_sku",
            "x",
            "there is no service 'x'",
        ),
    ],
)
def test_a_mistake_names_file_line_field_and_reason(
    data: Path, file: str, sku: str, column: str, value: str, sentence: str
) -> None:
    line = change_cell(data / file, sku, column, value)
    with pytest.raises(SeedError) as raised:
        read_seed(data)
    expected = "inactive_reason" if column == "active" else column
    mistake = next(str(each) for each in raised.value.mistakes if each.file == file)
    assert mistake.startswith(f"{file}, line {line}, {expected}: ")
    assert sentence in mistake


def test_all_mistakes_are_told_at_once(data: Path) -> None:
    change_cell(data / "cpus.csv", "epyc-9124", "cores", "many")
    change_cell(data / "racks.csv", "AR3357", "rack_units", "tall")
    with pytest.raises(SeedError) as raised:
        read_seed(data)
    assert [mistake.file for mistake in raised.value.mistakes] == ["cpus.csv", "racks.csv"]


def test_a_mistake_in_yaml_names_the_line_of_the_entry(data: Path) -> None:
    path = data / "models.yaml"
    text = path.read_text()
    line = text[: text.index("- key: openai/gpt-oss-20b")].count("\n") + 1
    path.write_text(text.replace("- key: openai/gpt-oss-20b\n", "- key: openai/gpt-oss-20b\n  layerz: 24\n"))
    with pytest.raises(SeedError, match=f"models.yaml, line {line}, layerz: there is no such column"):
        read_seed(data)


def test_prices_on_the_same_days_contradict_each_other(data: Path) -> None:
    with (data / "prices.csv").open("a") as stream:
        stream.write("l40s,EUR,9000,2026-12-01,,,somebody,yes,yes,,,\n")
    with pytest.raises(SeedError, match="holds on the same days"):
        read_seed(data)
