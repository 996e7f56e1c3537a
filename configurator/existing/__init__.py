"""What a customer has already: reading the output of GPU tools, and knowing the GPUs in it. Pure."""

from configurator.existing.names import match
from configurator.existing.reading import GPUS_MAX, MACHINES_MAX, PASTE_MAX, Reading, read_paste
from configurator.existing.writing import scrubbed, write_machines

__all__ = [
    "GPUS_MAX",
    "MACHINES_MAX",
    "PASTE_MAX",
    "Reading",
    "match",
    "read_paste",
    "scrubbed",
    "write_machines",
]
