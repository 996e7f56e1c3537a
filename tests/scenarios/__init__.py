"""Five real workloads as files, each sized by the real engine on the seed catalog."""

from pathlib import Path

import yaml

from configurator.workload import Workload

FOLDER = Path(__file__).parent
SCENARIOS = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def load_workload(name: str) -> Workload:
    return Workload.model_validate(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")))
