"""Which ways of laying out a training job are worth looking at, as arrays for one pass over all accelerators."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.specs import ModelArchitecture
from configurator.workload import Method
from quotes.sizing.architecture import legal_tp
from quotes.sizing.training.hardware import TrainingGpu
from quotes.sizing.training.memory import OFFLOADS, Offload

type Ints = NDArray[np.int64]
type Vector = NDArray[np.float64]
type Column = NDArray[Any]
type Sharding = Literal["none", "ddp", "zero1", "fsdp"]
type Recompute = Literal["none", "selective", "full"]

SHARDINGS: tuple[Sharding, ...] = ("none", "ddp", "zero1", "fsdp")
MICRO_BATCHES = (1, 2, 4, 8)
RECOMPUTES: tuple[Recompute, ...] = (
    "none",
    "selective",
    "full",
)  # each slower and smaller than the one before
PIPELINES = (1, 2, 4, 8, 16)
CONTEXTS = (1, 2, 4, 8, 16, 32)
PART_TOKENS = 4096  # a sequence is not cut into shorter parts
LARGE = 2e9  # layers × hidden²: from here on a pipeline may be divided by context as well
NODE_STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048)

_RECOMPUTE, _MICRO = (
    axis.ravel() for axis in np.meshgrid(range(len(RECOMPUTES)), MICRO_BATCHES, indexing="ij")
)
WITH_OFFLOAD = (SHARDINGS.index("none"), SHARDINGS.index("fsdp"))
VARIANTS = (len(RECOMPUTES), len(MICRO_BATCHES))  # of one layout, in this order


class Grid(NamedTuple):
    """One entry per candidate; `accelerator` is an index, the rest numbers."""

    accelerator: Column
    gpus: Column
    tp: Column
    pp: Column
    dp: Column
    ep: Column
    sharding: Column  # index in SHARDINGS
    micro_batch: Column
    recompute: Column  # index in RECOMPUTES
    cp: Column
    offload: Column  # index in OFFLOADS

    def take(self, chosen: NDArray[np.bool_] | Ints) -> "Grid":
        return Grid(*(field[chosen] for field in self))


class Space(NamedTuple):
    """What is worth looking at: every different layout once, in all its variants, and who may use it.

    Pair i says that accelerator `owner[i]` may use layout `layout[i]`; the variants of layout k are the entries of
    `candidates` from k · variants on. Memory depends on the layout alone, so that it is computed once for all.
    """

    candidates: Grid
    owner: Ints
    layout: Ints


def gpu_counts(node_gpus: int, gpus_max: float) -> tuple[int, ...]:
    """Legal sizes of a job: powers of two inside a server, then whole servers in sensible steps."""
    node_gpus = max(1, node_gpus)
    inside = [count for count in (1, 2, 4, 8, 16, 32) if count < node_gpus]
    whole = [steps * node_gpus for steps in NODE_STEPS if steps * node_gpus <= max(gpus_max, node_gpus)]
    return tuple(inside + whole)


def expert_parallel(arch: ModelArchitecture, ranks: int, domain: int) -> int:
    """Ranks over which experts are spread: as many as the fast domain holds and the experts divide by."""
    if not arch.is_moe:
        return 1
    degree = 1
    while degree * 2 <= min(ranks, max(domain, 1)) and arch.experts % (degree * 2) == 0:
        degree *= 2
    return degree


def context_degrees(sequence_tokens: float) -> tuple[int, ...]:
    """Over how many GPUs a sequence may be divided: none below twice the shortest part."""
    return tuple(cp for cp in CONTEXTS if cp == 1 or sequence_tokens >= cp * PART_TOKENS)


def _splits(
    method: Method,
    tensor: Sequence[int],
    arch: ModelArchitecture,
    gpus: int,
    node: int,
    contexts: Sequence[int],
) -> list[tuple[int, int, int, int]]:
    """(tp, pp, cp, sharding) worth trying on `gpus` GPUs."""
    none, ddp, zero1, fsdp = range(4)
    if gpus == 1:
        return [(1, 1, 1, none)]
    if method in {Method.LORA, Method.QLORA}:
        return [(1, 1, cp, sharding) for cp in contexts for sharding in (ddp, fsdp)]
    size = arch.layers * arch.hidden**2
    found = [(1, 1, 1, ddp)] if size < 3e8 else []
    found += [(tp, 1, cp, fsdp) for cp in contexts for tp in tensor if tp == 1 or gpus > node]
    found += [
        (tp, pp, cp, zero1)
        for cp in contexts
        for tp in tensor
        for pp in PIPELINES
        if (pp == 1 or arch.layers >= 2 * pp)
        and not (pp > 1 and gpus <= node and tp < max(tensor))
        and (cp == 1 or (tp == max(tensor) and size >= LARGE))
    ]
    return found


@lru_cache(maxsize=1024)
def _layouts(
    arch: ModelArchitecture, method: Method, contexts: tuple[int, ...], size: int, node: int, domain: int
) -> Vector:
    """Layouts of one size of job as columns: gpus, tp, pp, dp, ep, sharding, cp."""
    tensor = legal_tp(arch, max(1, min(domain, node, 8)))
    rows = []
    for tp, pp, cp, sharding in _splits(method, tensor, arch, size, node, contexts):
        if size % (tp * pp * cp) == 0:
            dp = size // (tp * pp * cp)
            ep = expert_parallel(arch, dp * cp, max(domain // tp, 1))
            rows.append((size, tp, pp, dp, ep, sharding, cp))
    return np.array(rows, float).reshape(len(rows), 7).T


def space(
    arch: ModelArchitecture, method: Method, sequence_tokens: float, gpus: Sequence[TrainingGpu],
    counts: Sequence[Sequence[int]], *, offload: Offload = "none",
) -> Space:  # fmt: skip
    """Every candidate of every accelerator; `counts` gives the GPU counts to try per accelerator. States in host
    memory go with full sharding or with one GPU."""
    contexts = context_degrees(sequence_tokens)
    start: dict[tuple[int, int, int], tuple[int, int]] = {}  # size, server, domain -> layouts from … to
    blocks, total = [np.zeros((7, 0))], 0
    owners, layouts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for index, (hardware, sizes) in enumerate(zip(gpus, counts, strict=True)):
        domain = hardware.link_domain if hardware.link_gb_s else 1
        for size in sizes:
            key = (size, hardware.node_gpus, domain)
            if key not in start:
                block = _layouts(arch, method, contexts, *key)
                blocks.append(block if offload == "none" else block[:, np.isin(block[5], WITH_OFFLOAD)])
                start[key] = (total, total := total + blocks[-1].shape[1])
            first, end = start[key]
            owners.append(np.full(end - first, index))
            layouts.append(np.arange(first, end))
    count, tp, pp, dp, ep, sharding, cp = np.repeat(np.concatenate(blocks, axis=1), _MICRO.size, axis=1)
    candidates = Grid(
        np.zeros(count.size, np.int64), count, tp, pp, dp, ep, sharding,
        np.tile(np.array(_MICRO, float), total), np.tile(np.array(_RECOMPUTE, float), total),
        cp, np.full(count.size, float(OFFLOADS.index(offload))),
    )  # fmt: skip
    return Space(candidates, np.concatenate(owners), np.concatenate(layouts))
