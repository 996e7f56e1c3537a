"""What failures and checkpoints cost a long job (Young 1974, Daly 2006)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.arrays import Numbers

type Array = NDArray[np.float64]


class Goodput(NamedTuple):
    """`interval_h` is the best time between checkpoints, `fraction` the share of the time that is kept."""

    mtbf_h: Array
    interval_h: Array
    fraction: Array


def goodput(gpus: Numbers, *, gpu_mtbf_h: float, write_h: Numbers, restart_h: float) -> Goodput:
    """Share of wall-clock time that survives on `gpus` GPUs.

    The best interval is √(2 · write time · time between failures); lost are the writing, half an interval and a
    restart per failure. Never below 0.05: a system that fails faster than it can save is no plan.
    """
    mtbf = gpu_mtbf_h / np.maximum(np.asarray(gpus, float), 1.0)
    write = np.asarray(write_h, float)
    interval = np.sqrt(2 * write * mtbf)
    with np.errstate(divide="ignore", invalid="ignore"):
        writing = np.where(interval > 0, write / interval, 0.0)
    lost = writing + interval / (2 * mtbf) + restart_h / mtbf
    return Goodput(mtbf, interval, np.maximum(1 - lost, 0.05))
