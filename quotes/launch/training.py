"""Training of language models: the trainer, parallelism and batch that were sized.

Plain data parallelism, sharded or not, runs in the Hugging Face trainers under `accelerate` (FSDP 2, DDP or DeepSpeed
ZeRO-1); tensor, pipeline, expert and context parallelism and selective recomputation of a pre-training run in
Megatron-LM. For what neither has a documented switch for, there is no command, and the reason is said.
"""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

from catalog.quantity import Message, Quantity, noop
from configurator.workload import LanguageTraining, Method
from quotes.launch.containers import container_of
from quotes.launch.nouns import Command, LaunchFile, Setting, Way, Word, note
from quotes.sizing.results import LoadOption, ModelToRun, TrainingRecipe
from quotes.sizing.trace import Finding

DATASET = Setting(name="DATASET", hint="give the name or folder of your dataset")
DATA_PATH = Setting(name="DATA_PATH", hint="give the prefix of your preprocessed data")
OUTPUT = Setting(name="OUTPUT", hint="give a folder for checkpoints")
MODEL = Setting(name="MODEL", hint="give the folder or the name of the model")
RATE = Setting(name="LEARNING_RATE", hint="give the learning rate")
RANK = Setting(name="NODE_RANK", default="0")
ADDRESS = Setting(name="MASTER_ADDR", default="localhost")
PORT = Setting(name="MASTER_PORT", default="29500")

ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
LATENT_ATTENTION = ["q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"]
ADAPTERS = frozenset({Method.LORA, Method.QLORA})
OPTIMIZERS = {"adamw": "adamw_torch", "adamw_8bit": "adamw_bnb_8bit"}

type Renderer = Callable[[LoadOption, LanguageTraining, ModelToRun, "Steps"], Way]


class Steps:
    """The batch of one optimiser step, rounded up to whole micro-batches on every rank."""

    def __init__(self, option: LoadOption, job: LanguageTraining, recipe: TrainingRecipe) -> None:
        self.micro_batch = recipe.micro_batch
        ranks = option.layout.dp * recipe.micro_batch
        self.accumulated = max(1, ceil(recipe.step_sequences / ranks - 1e-9))
        self.sequences = self.accumulated * ranks
        self.count = max(1, ceil(job.tokens / (self.sequences * job.sequence_tokens) - 1e-9))


def training_way(option: LoadOption, job: LanguageTraining) -> Way:
    """How a language job is started; without a command where no trainer documents what was sized."""
    recipe, model = option.recipe, option.model
    if recipe is None or model is None or not recipe.step_sequences:
        text = noop("This was sized by an earlier version, which did not keep the settings of the trainer.")
        return Way(findings=(note(Message.of(text), warns=True),))
    tool = tool_of(option, job, recipe)
    if isinstance(tool, Message):
        return Way(findings=(note(tool, warns=True),))
    steps = Steps(option, job, recipe)
    way = TOOLS[tool](option, job, model, steps)
    findings = (*_remarks(model, steps, recipe), *way.findings, _installed(tool, option, job))
    return way.model_copy(update={"findings": findings})


def tool_of(option: LoadOption, job: LanguageTraining, recipe: TrainingRecipe) -> str | Message:
    """The key of the trainer in TOOLS, or why none is known to run what was sized.

    Megatron-LM recomputes selectively; where it cannot run a job, a trainer that recomputes everything stands in if the
    hours that this takes are known.
    """
    layout = option.layout
    plain = layout.tp == layout.pp == layout.ep == layout.cp == 1 and option.precision == "bf16"
    on_gpus = recipe.host_offload == "none"
    selective = recipe.recompute == "selective"
    full_states = recipe.optimizer == "adamw" or job.method in ADAPTERS
    pre_trains = job.method is Method.PRE_TRAIN
    if option.stack not in {"cuda", "rocm"}:
        return Message.of(noop("No trainer is known whose settings we can give for this accelerator."))
    in_megatron = pre_trains and on_gpus and option.stack == "cuda" and recipe.loss == "eager" and full_states
    kept = full_states or not (pre_trains or layout.sharding == "zero1")
    placed = on_gpus or job.method is not Method.QLORA  # a 4-bit base stays on its GPU
    if plain and placed and kept and (not selective or (recipe.recomputing_all_h and not in_megatron)):
        return "transformers" if pre_trains else "trl"
    if in_megatron:
        return "megatron"
    if pre_trains and on_gpus and option.stack == "cuda":
        return Message.of(
            noop(
                "Sized with a loss in pieces or an 8-bit optimiser, which Megatron-LM has no documented switch for."
            )
        )
    return Message.of(
        noop(
            "Sized with a division over the GPUs that the Hugging Face trainers have no documented switch for "
            "(tensor, pipeline, expert or context parallelism, a 4-bit base in host memory, FP8, or an 8-bit optimiser "
            "divided by ZeRO-1). Set it up in a trainer that has it, with the figures above."
        )
    )


def _remarks(model: ModelToRun, steps: Steps, recipe: TrainingRecipe) -> tuple[Finding, ...]:
    found = []
    if not model.hub_id:
        text = noop("No published model was named: set MODEL to the model that you want to train.")
        found.append(note(Message.of(text), warns=True))
    if steps.sequences > recipe.step_sequences + 0.5:
        text = noop(
            "An optimiser step takes {sequences} instead of {asked}, so that every GPU has whole batches."
        )
        counts = {
            name: Quantity(value=value, unit="sequences", digits=4)
            for name, value in (("sequences", steps.sequences), ("asked", recipe.step_sequences))
        }
        found.append(note(Message.of(text, **counts)))
    text = noop(
        "Learning rate, schedule and evaluation are yours to choose: they do not change what was sized."
    )
    found.append(note(Message.of(text)))
    return tuple(found)


def _installed(tool: str, option: LoadOption, job: LanguageTraining) -> Finding:
    """What the image of PyTorch does not bring."""
    if tool == "megatron":
        text = noop("Run it in a copy of Megatron-LM (github.com/NVIDIA/Megatron-LM): it holds {script}.")
        return note(Message.of(text, script="pretrain_gpt.py"))
    packages = (
        ["trl", "flash-attn"] if tool == "trl" else ["transformers", "accelerate", "datasets", "evaluate"]
    )
    packages += ["peft"] if job.method in ADAPTERS else []
    packages += ["bitsandbytes"] if job.method is Method.QLORA or job.optimizer == "adamw_8bit" else []
    packages += ["liger-kernel"] if option.recipe and option.recipe.loss == "chunked" else []
    packages += ["deepspeed"] if _zero_stage(option) else []
    text = noop("Images with PyTorch do not bring the trainer: install what is not there of {packages}.")
    return note(Message.of(text, packages=", ".join(packages)))


# ── Hugging Face trainers ───────────────────────────────────────────────────────────────────────────────────────


def trl(option: LoadOption, job: LanguageTraining, model: ModelToRun, steps: Steps) -> Way:
    """TRL's supervised fine-tuning: full, LoRA, or QLoRA on a 4-bit base."""
    settings: dict[str, Any] = {"dtype": _dtype(option, job), "attn_implementation": "flash_attention_2"}
    if job.method in ADAPTERS:
        settings |= {
            "use_peft": True,
            "lora_r": job.lora_rank,
            "lora_target_modules": _adapted(model),
        }
    if job.method is Method.QLORA:
        settings |= {
            "load_in_4bit": True,
            "bnb_4bit_quant_type": "nf4",
            "use_bnb_nested_quant": True,
            "bnb_4bit_quant_storage": "bfloat16",  # what FSDP can divide
        }
    settings |= {"max_length": job.sequence_tokens, "packing": True} | _trainer(option, job, steps)
    words: list[Word] = ["trl", "sft", "--config", "train.yaml", "--accelerate_config", "accelerate.yaml"]
    words += [*_machines(option), "--model_name_or_path", _name(model)]
    words += ["--dataset_name", DATASET, "--output_dir", OUTPUT]
    files = [("train.yaml", settings), ("accelerate.yaml", accelerate(option, job, steps))]
    return Way(
        tool="trl",
        command=Command(words=tuple(words)),
        container=container_of("trl", option.stack),
        files=tuple(LaunchFile(name=name, documents=(document,)) for name, document in files),
        findings=_differences(option),
    )


def from_nothing(option: LoadOption, job: LanguageTraining, model: ModelToRun, steps: Steps) -> Way:
    """The language-modelling example of Transformers: with a configuration and no weights it starts from nothing."""
    words: list[Word] = [
        "accelerate",
        "launch",
        "--config_file",
        "accelerate.yaml",
        *_machines(option),
        "run_clm.py",
    ]
    words += ["--config_name", _name(model), "--tokenizer_name", _name(model), "--dataset_name", DATASET]
    words += ["--do_train", "--output_dir", OUTPUT, "--block_size", str(job.sequence_tokens)]
    words += ["--learning_rate", RATE]
    for name, value in _trainer(option, job, steps).items():
        words += [f"--{name}", str(value)]
    text = noop(
        "Take run_clm.py from the examples of the Transformers version that you install, and put it in this folder."
    )
    return Way(
        tool="transformers",
        command=Command(words=tuple(words)),
        container=container_of("transformers", option.stack),
        files=(LaunchFile(name="accelerate.yaml", documents=(accelerate(option, job, steps),)),),
        findings=(note(Message.of(text)), *_differences(option)),
    )


def _name(model: ModelToRun) -> Word:
    return model.hub_id or MODEL


def _servers(option: LoadOption) -> int:
    return -(-option.gpus // option.gpus_in_one_node)


def _nodes(option: LoadOption) -> Setting:
    return Setting(name="NNODES", default=str(_servers(option)))


def _machines(option: LoadOption) -> list[Word]:
    words: list[Word] = ["--num_machines", _nodes(option), "--machine_rank", RANK]
    return [*words, "--main_process_ip", ADDRESS, "--main_process_port", PORT]


def _dtype(option: LoadOption, job: LanguageTraining) -> str:
    """Of the weights in memory: 32 bit under mixed precision, 16 bit where the base is frozen or DeepSpeed keeps the
    32-bit copy, and with the 8-bit optimiser, which was sized without one."""
    sixteen = job.method in ADAPTERS or _zero_stage(option) > 0 or _pure(job)
    return "bfloat16" if sixteen else "float32"


def _pure(job: LanguageTraining) -> bool:
    """Everything in 16 bit, no mixed precision."""
    return job.optimizer == "adamw_8bit" and job.method not in ADAPTERS


def _adapted(model: ModelToRun) -> list[str]:
    """What was sized: every linear layer outside the experts."""
    if not model.experts:
        return ["all-linear"]
    return LATENT_ATTENTION if model.latent_attention else ATTENTION


def _trainer(option: LoadOption, job: LanguageTraining, steps: Steps) -> dict[str, Any]:
    recipe = option.recipe or TrainingRecipe()
    return {
        "per_device_train_batch_size": steps.micro_batch,
        "gradient_accumulation_steps": steps.accumulated,
        "max_steps": steps.count,
        "optim": OPTIMIZERS[job.optimizer],
        "bf16": not _pure(job),
        "gradient_checkpointing": recipe.recompute != "none",
        "use_liger_kernel": recipe.loss == "chunked",
    }


def _differences(option: LoadOption) -> tuple[Finding, ...]:
    """What must hold, or is otherwise, in these trainers."""
    recipe, run = option.recipe, option.speed.run_hours
    found = []
    if recipe and recipe.loss == "chunked":
        text = noop(
            "The loss must be computed in pieces: Liger Kernel does so for the models that it supports."
        )
        found.append(note(Message.of(text), warns=True))
    if recipe and run and recipe.recompute == "selective":
        hours = {
            "longer": Quantity(value=recipe.recomputing_all_h, unit="hours", digits=2),
            "sized": Quantity(value=run.high, unit="hours", digits=2),
        }
        text = noop(
            "Sized with selective recomputation. This trainer recomputes everything: less memory, and a run then takes "
            "up to {longer} instead of {sized}."
        )
        found.append(note(Message.of(text, **hours), warns=True))
        available_h = option.capacity_factor * run.high
        if recipe.recomputing_all_h > available_h:
            text = noop("That is longer than the {available} that the run may take.")
            available = Quantity(value=available_h, unit="hours", digits=3)
            found.append(note(Message.of(text, available=available), warns=True))
    return tuple(found)


def accelerate(option: LoadOption, job: LanguageTraining, steps: Steps) -> dict[str, Any]:
    """How `accelerate` divides the job; the command line adds the servers."""
    sharding = option.layout.sharding
    stage = _zero_stage(option)
    kind = "DEEPSPEED" if stage else {"fsdp": "FSDP", "ddp": "MULTI_GPU", "none": "NO"}[sharding]
    made: dict[str, Any] = {
        "compute_environment": "LOCAL_MACHINE",
        "distributed_type": kind,
        "mixed_precision": "no" if _pure(job) else "bf16",
        "num_machines": _servers(option),
        "num_processes": option.gpus,
        "rdzv_backend": "static",
        "same_network": True,
        "use_cpu": False,
    }
    if kind == "FSDP":
        made["fsdp_config"] = _FSDP_OF_QLORA if job.method is Method.QLORA else _FSDP
    if stage:
        away = option.recipe.host_offload if option.recipe else "none"
        made["deepspeed_config"] = {
            "deepspeed_multinode_launcher": "standard",
            "gradient_accumulation_steps": steps.accumulated,
            "offload_optimizer_device": "none" if away == "none" else "cpu",
            "offload_param_device": "cpu" if away == "all" else "none",
            "zero3_init_flag": stage == 3,
            "zero3_save_16bit_model": stage == 3,
            "zero_stage": stage,
        }
    return made


def _zero_stage(option: LoadOption) -> int:
    """Of DeepSpeed, where it divides the job or keeps states in host memory; 0 where it does not."""
    away = option.recipe.host_offload if option.recipe else "none"
    if away == "none":
        return 1 if option.layout.sharding == "zero1" else 0
    return 2 if away == "optimizer" and option.layout.sharding == "none" else 3


_FSDP: Mapping[str, Any] = {
    "fsdp_version": 2,
    "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
    "fsdp_activation_checkpointing": False,
    "fsdp_cpu_ram_efficient_loading": True,
    "fsdp_offload_params": False,
    "fsdp_reshard_after_forward": True,
    "fsdp_state_dict_type": "SHARDED_STATE_DICT",
}
_FSDP_OF_QLORA: Mapping[str, Any] = {
    "fsdp_version": 1,
    "fsdp_sharding_strategy": "FULL_SHARD",
    "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
    "fsdp_backward_prefetch": "BACKWARD_PRE",
    "fsdp_cpu_ram_efficient_loading": True,
    "fsdp_forward_prefetch": False,
    "fsdp_offload_params": False,
    "fsdp_state_dict_type": "SHARDED_STATE_DICT",
    "fsdp_sync_module_states": True,
    "fsdp_use_orig_params": False,
}


# ── Megatron-LM ─────────────────────────────────────────────────────────────────────────────────────────────────

MODEL_ARGUMENTS = {
    "layers": "--num-layers",
    "hidden": "--hidden-size",
    "feed_forward": "--ffn-hidden-size",
    "query_heads": "--num-attention-heads",
    "head_dim": "--kv-channels",
}


def megatron(option: LoadOption, job: LanguageTraining, model: ModelToRun, steps: Steps) -> Way:
    """Pre-training; the distributed optimiser of `zero1`, or Megatron-FSDP where weights are divided too."""
    layout, recipe = option.layout, option.recipe or TrainingRecipe()
    per_server = str(option.gpus_in_one_node)
    words: list[Word] = [
        "torchrun",
        "--nproc_per_node",
        per_server,
        "--nnodes",
        _nodes(option),
        "--node_rank",
        RANK,
    ]
    words += ["--master_addr", ADDRESS, "--master_port", PORT, "pretrain_gpt.py"]
    words += [
        "--tensor-model-parallel-size",
        str(layout.tp),
        "--pipeline-model-parallel-size",
        str(layout.pp),
    ]
    if layout.tp > 1:
        words += ["--sequence-parallel"]
    if layout.cp > 1:
        words += ["--context-parallel-size", str(layout.cp)]
    if layout.ep > 1:
        words += ["--expert-model-parallel-size", str(layout.ep)]
    words += ["--use-distributed-optimizer"]
    if layout.sharding == "fsdp":
        words += ["--use-megatron-fsdp", "--data-parallel-sharding-strategy", "optim_grads_params"]
        words += ["--no-gradient-accumulation-fusion", "--ckpt-format", "fsdp_dtensor"]
    words += ["--micro-batch-size", str(steps.micro_batch), "--global-batch-size", str(steps.sequences)]
    words += ["--seq-length", str(job.sequence_tokens), "--max-position-embeddings", str(job.sequence_tokens)]
    words += ["--train-iters", str(steps.count), "--lr", RATE, "--bf16"]
    if option.precision == "fp8":
        words += ["--fp8-format", "hybrid"]
    if recipe.recompute == "selective":
        words += ["--recompute-granularity", "selective"]
    if recipe.recompute == "full":
        words += [
            "--recompute-granularity",
            "full",
            "--recompute-method",
            "uniform",
            "--recompute-num-layers",
            "1",
        ]
    words += _shape(model)
    words += ["--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model", _name(model)]
    words += ["--data-path", DATA_PATH, "--save", OUTPUT]
    text = (
        noop(
            "Compare the dimensions with the configuration of the model; its rotary base and norms are not among them."
        )
        if model.shape
        else noop("This model is not built as usual: add its own arguments for Megatron-LM to the command.")
    )
    return Way(
        tool="megatron",
        command=Command(words=tuple(words)),
        container=container_of("megatron", option.stack),
        findings=(note(Message.of(text), warns=not model.shape),),
    )


def _shape(model: ModelToRun) -> list[Word]:
    """A plain dense model in Megatron-LM's words; nothing for any other."""
    shape = model.shape
    if not shape:
        return []
    words: list[Word] = []
    for field, flag in MODEL_ARGUMENTS.items():
        words += [flag, str(shape[field])]
    if shape["kv_heads"] < shape["query_heads"]:
        words += ["--group-query-attention", "--num-query-groups", str(shape["kv_heads"])]
    if not shape["tied_embeddings"]:
        words += ["--untie-embeddings-and-output-weights"]
    words += [
        "--swiglu",
        "--normalization",
        "RMSNorm",
        "--position-embedding-type",
        "rope",
        "--disable-bias-linear",
    ]
    return words


TOOLS: Mapping[str, Renderer] = {"trl": trl, "transformers": from_nothing, "megatron": megatron}
