"""What a worked case states, under one name each: sources spell the same input in several ways."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

type Inputs = Mapping[str, Any]

NAMES: Mapping[str, tuple[str, ...]] = {
    "gpu": ("accelerator", "gpu_type", "gpu_model", "gpu_name", "device"),
    "gpu_count": ("gpus", "num_gpus", "n_gpus", "accelerator_count", "accelerators", "devices"),
    "nodes": ("servers", "systems", "node_count"),
    "nics_per_node": ("rails", "rails_per_node", "nics_per_server"),
    "gpus_per_node": ("gpus_per_server", "gpus_per_system"),
    "switch_ports": ("ports_per_switch", "radix", "switch_radix"),
    "isl": ("input", "input_len", "input_tokens", "input_length", "prompt_tokens", "prompt_len"),
    "osl": ("output", "output_len", "output_tokens", "output_length", "generated_tokens"),
    "max_context": ("max_model_len", "max_len", "max_seq_len"),
    "context": ("context_length", "ctx", "context_tokens", "kv_tokens"),
    "kv_dtype": ("kv_cache_dtype", "cache_dtype", "kv_format"),
    "mem_util": ("gpu_memory_utilization", "gpu_memory_utilisation", "memory_utilization"),
    "seq": ("seq_len", "sequence_length", "sequence", "seqlen"),
    "batch": ("batch_size", "per_device_batch_size", "mbs"),
    "params_b": ("parameters_b", "size_b", "total_params_b", "total_b"),
    "active_b": ("active_params_b", "activated_b"),
    "host_ram_gb": ("host_memory_gb", "ram_gb", "cpu_ram_gb"),
    "bandwidth_gbs": ("bandwidth_gb_s", "memory_bandwidth_gb_s", "mem_bw_gb_s"),
    "utilisation": ("utilization", "use", "load"),
    "elec_usd_per_kwh": ("usd_per_kwh", "electricity_usd_per_kwh", "energy_usd_per_kwh", "power_usd_per_kwh"),
    "capex_usd": ("purchase_usd", "price_usd", "hardware_usd", "capital_usd"),
    "onprem_opex_usd_per_h": ("opex_usd_per_h", "own_usd_per_h", "running_usd_per_h"),
    "onprem_opex_usd_per_year": ("opex_usd_per_year", "annual_opex_usd", "running_usd_per_year"),
    "years": ("horizon_years", "lifetime_years", "term_years", "amortisation_years"),
    "month_hours": ("hours_per_month",),
    "checkpoint_seconds": ("write_seconds", "checkpoint_write_seconds", "write_s", "stall_s"),
    "rack_kw": ("kw_per_rack", "rack_power_kw", "rack_limit_kw"),
}  # fmt: skip
NUMBERS = frozenset(
    {"gpu_count", "nodes", "utilisation", "context", "isl", "osl"}
)  # only where a number is stated


def stated(inputs: Inputs) -> dict[str, Any]:
    """The inputs of a case under their usual names, euros as dollars, thousands and millions written out."""
    found = {_plain(key): value for key, value in inputs.items()}
    for key in list(found):
        for ending, factor in (("_m", 1e6), ("_k", 1e3)):
            if key.endswith(ending) and ("usd" in key or key.startswith("gpu_hours")):
                found.setdefault(key.removesuffix(ending), middle(found[key]) * factor)
    for name, others in NAMES.items():
        for other in others:
            if name not in found and other in found and (name not in NUMBERS or _is_number(found[other])):
                found[name] = found[other]
    for key, of in (("server", "gpu"), ("compute", "system")):
        count = re.match(r"(\d+) ?[x×] ?(.+)", str(found.get(key, "")))
        if count:
            found.setdefault("gpu_count" if of == "gpu" else "nodes", int(count[1]))
            found.setdefault(of, count[2])
    return found


def _plain(key: str) -> str:
    return re.sub(r"(?<![a-z])(eur|euros?)(?![a-z])", "usd", key.lower().replace("_", " ")).replace(" ", "_")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def numbers(value: object) -> list[float]:
    """The ends of a range, or the one number."""
    return [float(one) for one in value] if isinstance(value, list) else [float(str(value))]


def middle(value: object) -> float:
    """Of a range; a number as it is."""
    ends = numbers(value)
    return sum(ends) / len(ends)


def words_of(values: Iterable[object]) -> frozenset[str]:
    """Words in the texts that a case states: a unit may name its GPU or system again."""
    texts = (str(one) for value in values for one in (value if isinstance(value, list) else [value]))
    return frozenset(word for text in texts for word in re.findall(r"[a-z0-9.]+", text.lower()))
