"""Assumptions about training."""

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume


class TrainingAssumptions(Frozen):
    training_memory_reserve_fraction: float = assume(
        0.06,
        unit="",
        low=0,
        high=0.3,
        label=noop("Share of GPU memory kept free while training"),
        source=noop(
            "runs with 5–10 GB free on 80 GB cards; a 58.8 GB run ended out of memory by fragmentation"
        ),
    )
    training_tight_fraction: float = assume(
        0.12,
        unit="",
        low=0.02,
        high=0.4,
        label=noop("A training plan is called tight when less than this share of the memory stays free"),
        source=noop("upper end of the 80 % interval of predicted peaks"),
    )
    pretrain_batch_tokens: float = assume(
        4_000_000,
        unit="tokens",
        low=100_000,
        high=64_000_000,
        label=noop("Tokens per optimiser step in pre-training"),
        source=noop("published runs: 2–4 million (SmolLM3, TinyLlama), 16 million (Llama 3 405B)"),
    )
    finetune_batch_sequences: float = assume(
        64,
        unit="sequences",
        low=1,
        high=4096,
        label=noop("Sequences per optimiser step in fine-tuning"),
        source=noop("published fine-tuning benchmarks: 8–512"),
    )
    training_software_age_months: float = assume(
        6,
        unit="months",
        low=0,
        high=36,
        label=noop("Age of the training software against the newest that was measured"),
        source=noop("own choice: software in use lags the newest container by half a year"),
    )
    training_gpus_max: float = assume(
        2048,
        unit="GPUs",
        low=8,
        high=100_000,
        label=noop("Largest number of GPUs considered for one training job"),
        source=noop("two tiers of 64-port switches end at 2,048 endpoints"),
    )
    training_fabric_gbit_s: float = assume(
        400,
        unit="Gb/s",
        low=10,
        high=1600,
        label=noop("Network per GPU between training servers"),
        source=noop("reference platforms: one 400 Gb/s port per GPU"),
    )
    training_pcie4_gb_s: float = assume(
        22,
        unit="GB/s",
        low=5,
        high=32,
        label=noop("Rate between GPUs over PCIe 4 ×16, one direction"),
        source=noop("measured between cards through the CPU; 32 GB/s in theory"),
    )
    training_pcie5_gb_s: float = assume(
        45,
        unit="GB/s",
        low=10,
        high=64,
        label=noop("Rate between GPUs over PCIe 5 ×16, one direction"),
        source=noop("measured between cards through the CPU; 64 GB/s in theory"),
    )
    training_goodput_fraction: float = assume(
        0.9,
        unit="",
        low=0.5,
        high=1,
        label=noop("Share of the time that a training job really trains, failures and checkpoints apart"),
        source=noop("whole projects reach 0.7–0.9 of benchmark speed; failures are counted separately"),
    )
    training_project_fraction: float = assume(
        0.75,
        unit="",
        low=0.3,
        high=1,
        label=noop("Share of benchmark speed that a whole training project reaches"),
        source=noop("GPU-hours on model cards of Llama 2 and 3 against benchmark utilisation: 0.7–0.9"),
    )
    training_gpu_mtbf_h: float = assume(
        50_000,
        unit="h",
        low=1_000,
        high=1_000_000,
        label=noop("Hours between failures per GPU"),
        source=noop("Llama 3: 419 unexpected interruptions in 54 days on 16,384 GPUs"),
    )
    training_restart_h: float = assume(
        0.3,
        unit="h",
        low=0.02,
        high=24,
        label=noop("Time lost per restart, besides the work since the last checkpoint"),
        source=noop("own choice: detect, replace, load and warm up within 20 minutes"),
    )
    training_start_h: float = assume(
        0.15,
        unit="h",
        low=0,
        high=4,
        label=noop("Start of a run: loading weights, compiling, first evaluation"),
        source=noop("own choice"),
    )
    checkpoint_bytes_per_param: float = assume(
        14,
        unit="bytes",
        low=2,
        high=18,
        label=noop("Size of a full training checkpoint per parameter"),
        source=noop("MLPerf Storage checkpoints: 8B 105 GB, 70B 912 GB, 405B 5.29 TB; BLOOM 176B 2.3 TB"),
    )
    checkpoint_stall_s: float = assume(
        60,
        unit="s",
        low=5,
        high=1800,
        label=noop("Time that training may wait for a checkpoint to be written"),
        source=noop("BLOOM wrote 2.3 TB in about 40 s"),
    )
    checkpoint_load_s: float = assume(
        300,
        unit="s",
        low=10,
        high=3600,
        label=noop("Time in which a checkpoint must be read back after a failure"),
        source=noop("own choice"),
    )
    training_cpu_cores_per_gpu: float = assume(
        8,
        unit="cores",
        low=2,
        high=64,
        label=noop("CPU cores per training GPU"),
        source=noop("data loading and collectives; reference servers have 12–16 per GPU"),
    )
    training_ram_factor: float = assume(
        2,
        unit="×",
        low=0.5,
        high=4,
        label=noop("Host memory per training server as a multiple of its GPU memory"),
        source=noop("vendor sizing guides: at least twice the GPU memory"),
    )
    training_night_h: float = assume(
        12,
        unit="h",
        low=4,
        high=16,
        label=noop("Length of a night in which a job may run undisturbed"),
        source=noop("own choice: 19:00 to 07:00"),
    )
    training_office_h_per_week: float = assume(
        50,
        unit="h",
        low=20,
        high=168,
        label=noop("Hours per week that services are busy in office hours"),
        source=noop("own choice: five days of ten hours"),
    )
    training_extended_h_per_week: float = assume(
        90,
        unit="h",
        low=30,
        high=168,
        label=noop("Hours per week that services are busy in extended hours"),
        source=noop("own choice: six days of fifteen hours"),
    )
