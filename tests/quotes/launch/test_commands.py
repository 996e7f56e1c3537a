"""Commands start what was sized: documented options only, parallelism that uses every GPU, the sizing's own values."""

from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalog.specs import CpuSpec, FormFactor, MemorySpec
from configurator.workload import (
    Domain,
    LanguageService,
    LanguageTraining,
    Method,
    ModelRef,
    Precision,
    RateService,
)
from quotes.documents.launch import content
from quotes.launch import launch_plan
from quotes.launch.local import local_way
from quotes.launch.nouns import Way
from quotes.launch.rates import rate_way
from quotes.launch.serving import service_way
from quotes.launch.training import Steps, tool_of, training_way
from quotes.sizing.loads import stack_of
from quotes.sizing.results import LoadOption
from tests.quotes.launch.plans import jobs, options_of, planned, services, values, words
from tests.scenarios import SCENARIOS, load_workload
from tests.sizing.hardware import seed

DOCUMENTED: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "documented.yaml").read_text())
every_scenario = pytest.mark.parametrize("name", SCENARIOS)


@cache
def served() -> tuple[tuple[LanguageService, LoadOption, Way], ...]:
    return tuple(
        (service, option, service_way("chat", option))
        for service in services()
        for option in options_of(service)
    )


@cache
def trained() -> tuple[tuple[LanguageTraining, LoadOption, Way], ...]:
    return tuple((job, option, training_way(option, job)) for job in jobs() for option in options_of(job))


def commanded() -> list[tuple[LoadOption, Way]]:
    found = [(option, way) for _, option, way in (*served(), *trained()) if way.command]
    assert {way.tool for _, way in found} == {"vllm", "sglang", "trtllm", "trl", "transformers", "megatron"}
    return found


# ── golden tables ───────────────────────────────────────────────────────────────────────────────────────────────

GOLDEN: dict[str, dict[str, tuple[str, str, tuple[str, ...]]]] = {
    # load: tool, first words, files
    "municipality": {
        "document-chat": (
            "vllm", "vllm serve meta-llama/Meta-Llama-3.1-70B", ("start.sh", "slurm.sbatch", "kubernetes.yaml")
        ),
    },
    "law-firm": {
        "fine-tune": (
            "vllm", "vllm serve meta-llama/Meta-Llama-3.1-70B", ("start.sh", "slurm.sbatch", "kubernetes.yaml")
        ),
        "fine-tune-training": (
            "trl", "trl sft --config",
            ("start.sh", "train.yaml", "accelerate.yaml", "slurm.sbatch", "kubernetes.yaml"),
        ),
    },
    "software-house": {
        "code-assistant": (
            "vllm", "vllm serve openai/gpt-oss-120b", ("start.sh", "slurm.sbatch", "kubernetes.yaml")
        ),
    },
    "university": {
        "pre-train-training": (
            "transformers", "accelerate launch --config_file",
            ("start.sh", "accelerate.yaml", "slurm.sbatch", "kubernetes.yaml"),
        ),
    },
    "factory": {
        "image-inspection": ("", "", ("slurm.sbatch", "kubernetes.yaml")),
        "image-inspection-training": ("", "", ("slurm.sbatch", "kubernetes.yaml")),
    },
}  # fmt: skip


@every_scenario
def test_each_scenario_starts_as_expected(name: str) -> None:
    _, loads = next(planned(name))
    found = {
        load.folder: (
            load.tool,
            " ".join(words(load.command)[:3]) if load.command else "",
            tuple(file.name for file in load.files),
        )
        for load in loads
    }
    assert found == GOLDEN[name]


def test_the_municipality_serves_what_was_sized() -> None:
    system, (load,) = next(planned("municipality"))
    (option,) = system.candidate.loads
    assert values(load.command) == {
        "--served-model-name": "document-chat",
        "--host": "0.0.0.0",  # noqa: S104
        "--port": "$PORT",
        "--tensor-parallel-size": str(option.layout.tp),
        "--quantization": "fp8",
        "--kv-cache-dtype": "auto",
        "--max-model-len": "3400",  # prompt and answer
        "--max-num-seqs": "1024",
        "--max-num-batched-tokens": "8192",
        "--gpu-memory-utilization": "0.9",
    }
    assert (load.resources.units, load.resources.gpus) == (option.replicas, option.layout.tp)
    assert f"{load.container.image}:{load.container.version}" == "vllm/vllm-openai:v0.19.0"


def test_the_law_firm_adapts_the_model_that_it_serves() -> None:
    system, (service, job) = next(planned("law-firm"))
    option = system.candidate.loads[1]
    assert values(service.command)["--max-model-len"] == "16000"
    train, divided = (yaml.safe_load(content(file)) for file in job.files[1:3])
    assert (train["lora_r"], train["lora_target_modules"], train["max_length"]) == (16, ["all-linear"], 4096)
    together = train["per_device_train_batch_size"] * train["gradient_accumulation_steps"] * option.layout.dp
    assert together == 64
    assert train["max_steps"] == 77  # 20 million tokens, 64 sequences of 4,096 a step
    assert divided["num_processes"] == job.resources.units * job.resources.gpus
    remarks = [str(finding.message) for finding in job.findings]
    assert any("Stop those services first" in text for text in remarks)
    assert any("of trl, flash-attn, peft" in text for text in remarks)


def test_the_software_house_spreads_the_experts() -> None:
    system, (load,) = next(planned("software-house"))
    said = values(load.command)
    assert ("--enable-expert-parallel" in said) == (system.candidate.loads[0].layout.ep > 1)
    assert "--quantization" not in said  # published as it was sized


def test_the_university_trains_from_nothing() -> None:
    for system, (load,) in planned("university"):
        said, (option,) = values(load.command), system.candidate.loads
        remarks = [str(finding.message) for finding in load.findings]
        assert any("install what is not there of transformers" in text for text in remarks)
        assert not any("Stop those services" in text for text in remarks)  # there are none
        assert any("fast network" in text for text in remarks) == (load.resources.units > 1)
        assert "--model_name_or_path" not in said
        assert said["--block_size"] == "4096"
        assert load.resources.gpus == option.gpus_in_one_node
        divided = yaml.safe_load(content(next(file for file in load.files if file.name == "accelerate.yaml")))
        if option.layout.sharding == "zero1":
            assert divided["deepspeed_config"]["zero_stage"] == 1
            steps = divided["deepspeed_config"]["gradient_accumulation_steps"]
            assert str(steps) == said["--gradient_accumulation_steps"]


def test_the_factory_gets_no_command_and_is_told_so() -> None:
    _, loads = next(planned("factory"))
    assert all("no start command" in str(load.findings[0].message) for load in loads)


def test_embeddings_start_the_server_that_was_measured() -> None:
    part = RateService(name="search", domain=Domain.EMBEDDING, model="bge-large", items_s=50)
    option = next(option for option in options_of(part) if option.stack == "cuda")
    way = rate_way(option, part)
    assert words(way.command)[:2] == ["infinity_emb", "v2"]
    assert set(values(way.command)) <= set(DOCUMENTED["infinity"]["options"])


def _little(requests: float, **changes: Any) -> LanguageService:
    part = LanguageService(
        model=ModelRef(key="meta-llama/Meta-Llama-3.1-8B"), concurrent_requests=requests, prompt_tokens=1500,
        output_tokens=300, tokens_s_per_user=5, ttft_p95_s=20,
    )  # fmt: skip
    return part.model_copy(update=changes)


@pytest.mark.parametrize(
    ("precision", "cache", "form", "kept"),
    [
        (Precision.BF16, "auto", "BF16", "f16"),
        (Precision.FP8, "fp8", "Q8_0", "q8_0"),
        (Precision.INT4, "auto", "Q4_K_M", "f16"),
    ],
)
def test_few_requests_on_one_gpu_may_run_in_llama_cpp(
    precision: Precision, cache: str, form: str, kept: str
) -> None:
    part = _little(2, precision=precision, kv_precision=cache)
    option = next(one for one in options_of(part) if one.gpus_per_replica == 1)
    file, finding = local_way("chat", option, part, 8100)
    assert form in str(finding.message)
    assert "does not hold" in str(finding.message)
    said = dict(line.strip(" \\").split(" ", 1) for line in file.text.splitlines() if line.startswith("  --"))
    assert set(said) <= set(DOCUMENTED["llamacpp"]["options"])
    assert said["--cache-type-v"] in DOCUMENTED["llamacpp"]["values"]["--cache-type-v"]
    # Slots divide the context: each has the longest request that was sized.
    assert (said["--parallel"], said["--ctx-size"]) == ("2", str(2 * part.longest_request_tokens))
    assert (said["--cache-type-k"], said["--cache-type-v"]) == (kept, kept)
    assert '"${LISTEN:=127.0.0.1}"' in file.text


def test_llama_cpp_is_no_alternative_for_many_or_where_it_does_not_fit() -> None:
    part = _little(2)
    option = next(one for one in options_of(part) if one.gpus_per_replica == 1)
    memory = option.memory
    full = memory.model_copy(update={"total_gib": memory.weights_gib + memory.runtime_gib})
    assert local_way("chat", option, part, 8000)
    assert local_way("chat", option, _little(40), 8000) is None
    assert local_way("chat", option.model_copy(update={"gpus_per_replica": 2}), part, 8000) is None
    assert local_way("chat", option.model_copy(update={"memory": full}), part, 8000) is None
    assert local_way("chat", option.model_copy(update={"stack": "gaudi"}), part, 8000) is None


# ── laws over the catalog ───────────────────────────────────────────────────────────────────────────────────────


def test_only_documented_options_are_used() -> None:
    wrong = []
    for option, way in commanded():
        known = DOCUMENTED[way.tool]
        wrong += [
            f"{way.tool} {word}"
            for word in words(way.command)
            if word.startswith("-") and word not in known["options"]
        ]
        said = values(way.command)
        wrong += [
            f"{way.tool} {flag} {said[flag]} on {option.accelerator}"
            for flag, allowed in known.get("values", {}).items()
            if flag in said and said[flag] not in allowed
        ]
        for file in way.files:
            keys = yaml.safe_load(content(file)).keys()
            wrong += [f"{file.name} {key}" for key in keys - set(known["files"][file.name])]
    assert not wrong, sorted(set(wrong))


PARALLEL = {
    "vllm": ("--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size"),
    "sglang": ("--tp-size", "--pp-size"),  # attention replicas count within --tp-size
    "trtllm": ("--tp_size", "--pp_size"),
}


def test_a_replica_uses_exactly_its_gpus() -> None:
    for _, option, way in served():
        if way.command is None:
            continue
        said = values(way.command)
        assert prod(int(said.get(flag, "1")) for flag in PARALLEL[way.tool]) == option.gpus_per_replica
        ranks = option.layout.dp
        if way.tool == "sglang":
            assert said.get("--dp-size", "1") == str(ranks)
            assert ("--enable-dp-attention" in said) == (ranks > 1)
            assert said.get("--ep-size", "1") == str(option.layout.ep)
        if way.tool == "trtllm":
            assert said.get("--ep_size", "1") == str(option.layout.ep)
            assert yaml.safe_load(content(way.files[0]))["enable_attention_dp"] == (ranks > 1)
        if way.tool == "vllm":
            # One switch spreads the experts over all GPUs of the replica: sizing must mean the same.
            assert option.layout.ep in {1, option.gpus_per_replica}
            assert ("--enable-expert-parallel" in said) == (option.layout.ep > 1)


def test_some_replica_of_each_engine_runs_attention_in_parallel() -> None:
    assert {way.tool for _, option, way in served() if option.layout.dp > 1} == set(PARALLEL)


LIMITS = {
    "vllm": ("--max-num-seqs", "--max-num-batched-tokens", "--gpu-memory-utilization", "--max-model-len"),
    "sglang": (
        "--max-running-requests",
        "--chunked-prefill-size",
        "--mem-fraction-static",
        "--context-length",
    ),
    "trtllm": (
        "--max_batch_size",
        "--max_num_tokens",
        "kv_cache_config",  # in the file, which replaces the flag
        "--max_seq_len",
    ),
}


def test_a_replica_runs_with_the_limits_it_was_sized_with() -> None:
    for service, option, way in served():
        if way.command is None:
            continue
        said, settings = values(way.command), option.settings
        together = option.layout.dp if way.tool == "sglang" else 1
        if way.files:
            held = yaml.safe_load(content(way.files[0]))["kv_cache_config"]
            said["kv_cache_config"] = held["free_gpu_memory_fraction"]
        sequences, tokens, fraction, context = (said[flag] for flag in LIMITS[way.tool])
        assert int(sequences) == settings.sequences * together
        assert int(tokens) == settings.step_tokens * together
        assert float(fraction) == pytest.approx(settings.memory_fraction)
        assert int(context) == service.longest_request_tokens
        large = option.memory.total_gib >= 70
        assert (settings.sequences, settings.step_tokens) == ((1024, 8192) if large else (256, 2048))
        # What the peak asks of a replica, the engine lets in.
        working = option.replicas - option.spare_replicas
        assert service.concurrent_requests / working <= settings.sequences * option.layout.dp


def test_weights_are_what_was_sized_or_are_asked_for() -> None:
    cases = set()
    for service, option, way in served():
        if way.command is None:
            continue
        said = words(way.command)
        converts = "--quantization" in said
        named = service.model.key in said
        same = option.precision == option.model.checkpoint_format
        assert named == (same or converts)
        assert named != ("$MODEL" in said)
        if converts:
            # The engine reads 16 bit before it makes 8: that must fit as well.
            assert 2 * option.memory.weights_gib <= option.settings.memory_fraction * option.memory.total_gib
        if not named:
            assert any("Set MODEL" in str(finding.message) for finding in way.findings)
        cases.add((way.tool, named, converts))
    assert {
        ("vllm", True, True),
        ("vllm", True, False),
        ("vllm", False, False),
        ("trtllm", False, False),
    } <= cases


def test_the_cache_has_the_sized_precision() -> None:
    for _, option, way in served():
        if way.command and way.tool != "trtllm":
            said = values(way.command)["--kv-cache-dtype"]
            assert said.startswith("fp8") == (option.kv_precision == "fp8")
            # Checkpoints with 8-bit scales would choose 8 bit by themselves.
            assert (said == "bfloat16") == (
                option.kv_precision == "bf16" and option.model.cache_format == "fp8"
            )


def test_training_uses_exactly_its_gpus_and_batch() -> None:
    for job, option, way in trained():
        if way.command is None:
            continue
        said = values(way.command)
        layout, recipe = option.layout, option.recipe
        steps = Steps(option, job, recipe)
        assert (
            steps.sequences
            == steps.accumulated * layout.dp * recipe.micro_batch
            >= recipe.step_sequences - 1e-6
        )
        assert (steps.count - 1) * steps.sequences * job.sequence_tokens < job.tokens
        if way.tool == "megatron":
            split = ("--tensor-model-parallel-size", "--pipeline-model-parallel-size")
            assert prod(int(said[flag]) for flag in split) * layout.dp * layout.cp == option.gpus
            assert int(said.get("--context-parallel-size", 1)) == layout.cp
            assert int(said["--nproc_per_node"]) == option.gpus_in_one_node
            assert said["--global-batch-size"] == str(steps.sequences)
            assert said.get("--recompute-granularity", "none") == recipe.recompute
            assert ("--use-megatron-fsdp" in said) == (layout.sharding == "fsdp")
            continue
        files = {file.name: yaml.safe_load(content(file)) for file in way.files}
        train = files.get("train.yaml") or {key.removeprefix("--"): value for key, value in said.items()}
        divided = files["accelerate.yaml"]
        assert divided["num_processes"] == option.gpus == layout.dp
        kind = {"fsdp": "FSDP", "ddp": "MULTI_GPU", "zero1": "DEEPSPEED", "none": "NO"}[layout.sharding]
        kind = kind if recipe.host_offload == "none" else "DEEPSPEED"
        assert divided["distributed_type"] == kind
        assert int(train["per_device_train_batch_size"]) == recipe.micro_batch
        assert str(train["gradient_checkpointing"]) == str(recipe.recompute != "none")
        assert str(train["use_liger_kernel"]) == str(recipe.loss == "chunked")
        assert bool(train.get("use_peft")) == (job.method in {Method.LORA, Method.QLORA})
        assert bool(train.get("load_in_4bit")) == (job.method is Method.QLORA)


def test_what_no_trainer_documents_gets_no_command_but_a_reason() -> None:
    without = [(job, option, way) for job, option, way in trained() if way.command is None]
    assert without
    for job, option, way in without:
        assert way.findings
        layout = option.layout
        plain = layout.tp == layout.pp == layout.ep == layout.cp == 1
        plain = plain and (option.recipe.host_offload == "none" or job.method is not Method.QLORA)
        assert not plain or option.stack not in {"cuda", "rocm"}


def test_a_trainer_that_recomputes_more_says_how_much_longer_it_takes() -> None:
    told = [
        (option, way)
        for _, option, way in trained()
        if way.tool in {"trl", "transformers"} and option.recipe.recompute == "selective"
    ]
    assert told
    for option, way in told:
        said = [str(finding.message) for finding in way.findings]
        assert option.recipe.recomputing_all_h > option.speed.run_hours.high
        assert any("recomputes everything" in text for text in said)
        late = option.recipe.recomputing_all_h > option.capacity_factor * option.speed.run_hours.high
        assert any("longer than the" in text for text in said) == late


def test_divided_sequences_are_never_left_out_of_a_command() -> None:
    for job, option, way in trained():
        if way.command is None:
            continue
        divided = option.model_copy(update={"layout": option.layout.model_copy(update={"cp": 2})})
        again = training_way(divided, job)
        assert again.command is None or values(again.command)["--context-parallel-size"] == "2"


@pytest.mark.parametrize(
    ("sharding", "away", "stage", "optimizer", "weights"),
    [
        ("none", "optimizer", 2, "cpu", "none"),
        ("fsdp", "optimizer", 3, "cpu", "none"),
        ("none", "all", 3, "cpu", "cpu"),
        ("fsdp", "all", 3, "cpu", "cpu"),
    ],
)
def test_states_in_host_memory_are_kept_there(
    sharding: str, away: str, stage: int, optimizer: str, weights: str
) -> None:
    told = set()
    for job, option, way in trained():
        if way.tool not in {"trl", "transformers"} or option.layout.sharding != sharding:
            continue
        recipe = option.recipe.model_copy(update={"host_offload": away})
        again = training_way(option.model_copy(update={"recipe": recipe}), job)
        if job.method is Method.QLORA:
            assert again.command is None  # nobody documents a 4-bit base in host memory
            continue
        files = {file.name: yaml.safe_load(content(file)) for file in again.files}
        deepspeed = files["accelerate.yaml"]["deepspeed_config"]
        assert files["accelerate.yaml"]["distributed_type"] == "DEEPSPEED"
        assert deepspeed["zero_stage"] == stage
        assert deepspeed["offload_optimizer_device"] == optimizer
        assert deepspeed["offload_param_device"] == weights
        if again.tool == "trl":
            assert files["train.yaml"]["dtype"] == "bfloat16"  # DeepSpeed keeps the 32-bit copy
        told.add(job.method)
    assert told


def test_an_eight_bit_optimiser_never_runs_as_a_full_one() -> None:
    job = LanguageTraining(
        model=ModelRef(key="meta-llama/Meta-Llama-3.1-8B"), method="full", tokens=5e7, deadline_h=96,
        optimizer="adamw_8bit",
    )  # fmt: skip
    told = set()
    for option in options_of(job):
        tool = tool_of(option, job, option.recipe)
        told.add(tool if isinstance(tool, str) else "none")
        if tool == "trl":
            files = training_way(option, job).files
            train, divided = (yaml.safe_load(content(file)) for file in files)
            assert (train["optim"], train["dtype"], train["bf16"]) == ("adamw_bnb_8bit", "bfloat16", False)
            assert divided["mixed_precision"] == "no"
    assert "megatron" not in told
    assert "trl" in told


@pytest.mark.parametrize(
    ("stack", "image", "resource"),
    [
        ("cuda", "vllm/vllm-openai", "nvidia.com/gpu"),
        ("rocm", "vllm/vllm-openai-rocm", "amd.com/gpu"),
        ("jetpack", "", "nvidia.com/gpu"),
        ("gaudi", "", "habana.ai/gaudi"),
    ],
)
def test_each_stack_names_its_own_image_and_device(stack: str, image: str, resource: str) -> None:
    system, _ = next(planned("software-house"))
    loads = tuple(load.model_copy(update={"stack": stack}) for load in system.candidate.loads)
    changed = system.model_copy(update={"candidate": system.candidate.model_copy(update={"loads": loads})})
    (load,) = launch_plan(changed, load_workload("software-house")).loads
    assert (load.container.image if load.container else "") == image
    assert load.resources.gpu_resource == resource
    said = " ".join(str(finding.message) for finding in load.findings)
    assert ("No image is named" in said) == (not image)


def test_modules_are_told_from_cards() -> None:
    stacks = {one.form_factor: stack_of(one) for one in seed().accelerators if one.vendor == "NVIDIA"}
    assert stacks[FormFactor.EDGE] == "jetpack"
    assert stacks[FormFactor.SXM] == stacks[FormFactor.PCIE] == "cuda"


@every_scenario
def test_requests_fit_in_the_servers(name: str) -> None:
    articles = seed().items
    for system, loads in planned(name):
        build = system.candidate.system
        parts = [(articles[line.sku], line.quantity) for line in build.node.lines]
        cores = sum(part.cores * count for part, count in parts if isinstance(part, CpuSpec))
        memory_gib = sum(part.capacity_gb * count for part, count in parts if isinstance(part, MemorySpec))
        options = {option.load: option for option in system.candidate.loads}
        for load in loads:
            asked, option = load.resources, options[load.load]
            beside = build.node.accelerators // asked.gpus  # as many as one server holds
            assert beside >= 1
            assert not cores or beside * asked.cpus <= cores
            assert not memory_gib or beside * asked.memory_gib <= memory_gib
            assert asked.units * asked.gpus == option.gpus
