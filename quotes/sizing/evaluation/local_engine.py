"""llama.cpp on one workstation GPU: a plain model of bandwidth and launches, for the tables that were made with it.

The product does not size for llama.cpp; these rows check bandwidth-bound single streams on GPUs that nothing else
covers. Layers split over several GPUs run one after the other, so that further GPUs add memory and no speed.
"""

from quotes.sizing.architecture import FORMATS, kv_bytes_of_sequence, weight_bytes
from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.names import OutOfScope, find_accelerator, find_model
from quotes.sizing.serving.machines import require_figures
from quotes.sizing.trace import Badge

LOCAL_ENGINE = "llama.cpp"
FORMAT_OF = {"q4_k_m": "q4_k_m", "f16": "bf16"}
MEMORY_EFF = {"q4_k_m": 0.80, "bf16": 0.93}  # of the bandwidth; unpacking four-bit blocks costs some
KERNELS_PER_LAYER = 16
KERNEL_US = 7.0  # of one launch without captured graphs
HBM_SHARE = 0.67  # of that: kernels for one stream do not fill the wide buses of data-centre memory
HBM_GB_S = 1400
INTERVAL = (0.75, 1.33)


def predict_local(row: Row, context: Context) -> PredictedRow:
    """Tokens per second of one stream. Raises OutOfScope or MissingFigure."""
    arch = find_model(row["model"], context.catalog)
    accelerator = find_accelerator(row["gpu"], context.catalog)
    require_figures(accelerator)
    key = FORMAT_OF.get(row["quantization"].lower())
    if key is None:
        raise OutOfScope(f"Weights in {row['quantization']} are not sized.")
    form = FORMATS[key]
    launches = arch.layers * KERNELS_PER_LAYER * KERNEL_US * 1e-6
    if row["metric"] != "tokens_s_decode":
        raise OutOfScope(
            "How fast llama.cpp reads prompts depends on its build; the product does not size for it."
        )
    bandwidth = float(accelerator.memory_bandwidth_gb_s or 0)
    efficiency = MEMORY_EFF[key] * (HBM_SHARE if bandwidth > HBM_GB_S and key == "bf16" else 1.0)
    tokens = float(row["output_len"] or 0)
    read = weight_bytes(arch, form) + float(kv_bytes_of_sequence(arch, tokens / 2, 2.0))
    value = 1 / (read / (bandwidth * 1e9 * efficiency) + launches)
    return PredictedRow(
        id=row["id"], metric="value", measured=float(row["value"]), predicted=value, low=value * INTERVAL[0],
        high=value * INTERVAL[1], badge=str(Badge.EXTRAPOLATED), model=row["model"], gpu=row["gpu"],
    )  # fmt: skip
