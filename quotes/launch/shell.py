"""Commands as Bash and as Slurm batch scripts. Whatever a catalog or a customer named is quoted."""

import re
import shlex
from collections.abc import Iterable

from quotes.launch.nouns import Command, Resources, Setting, Word

HEAD = "#!/usr/bin/env bash\n"
STRICT = "set -euo pipefail\n"
HARMLESS = re.compile(r"[A-Za-z0-9_./: ,-]*")
MASTER_PORT = 29500


def quoted(word: Word) -> str:
    """`word` as Bash reads it back: itself, or the value of its variable."""
    return f'"${{{word.name}}}"' if isinstance(word, Setting) else shlex.quote(word)


def asked(setting: Setting) -> str:
    """The line that gives `setting` its default, or stops with what is missing. Raises ValueError for a default or
    hint that Bash would read as more than text."""
    if not HARMLESS.fullmatch(setting.default + setting.hint) or not setting.name.isidentifier():
        raise ValueError(f"{setting.name} cannot be asked for safely")
    if setting.default:
        return f': "${{{setting.name}:={setting.default}}}"\n'
    return f': "${{{setting.name}:?{setting.hint}}}"\n'


def lines_of(words: Iterable[Word]) -> list[list[Word]]:
    """The program with what belongs to it, then each option with its values, and a script it starts."""
    lines: list[list[Word]] = [[]]
    for word in words:
        if isinstance(word, str) and word.startswith("--") | word.endswith(".py") and lines[-1]:
            lines.append([])
        lines[-1].append(word)
    return lines


def call(command: Command, prefix: str) -> str:
    """The command over several lines, one option each."""
    lines = [" ".join(quoted(word) for word in line) for line in lines_of(command.words)]
    return prefix + " \\\n  ".join(lines) + "\n"


def body(command: Command, prefix: str = "exec ") -> str:
    """What it asks for, then the call itself."""
    exports = [f"export {name}={shlex.quote(value)}\n" for name, value in command.environment.items()]
    return "".join(exports) + "".join(map(asked, command.settings)) + call(command, prefix)


def start_script(command: Command) -> str:
    """What starts one replica, or a job's part on one server."""
    return HEAD + STRICT + body(command)


def slurm_script(name: str, resources: Resources, *, port: int | None, has_command: bool) -> str:
    """A batch script that starts every unit: replicas as an array from `port` up, a job's servers (`port` None)
    together. `name` is a folder name. Without a command it takes one as its arguments. Since Slurm 22.05 `srun` must
    be told the cores again.
    """
    is_service = port is not None
    several = resources.units > 1
    options = {
        "job-name": name,
        "nodes": 1 if is_service else resources.units,
        "ntasks-per-node": 1,
        **({"gres": resources.gres} if resources.gres else {}),
        **({"gpus-per-node": resources.gpus} if resources.gpus and not resources.gres else {}),
        "cpus-per-task": resources.cpus,
        **({"mem": f"{resources.memory_gib}G"} if resources.memory_gib else {}),
        **({"array": f"0-{resources.units - 1}"} if is_service and several else {}),
        "output": "%x-%A_%a.log" if is_service and several else "%x-%j.log",
    }
    head = "".join(f"#SBATCH --{option}={value}\n" for option, value in options.items())
    body = ""
    if is_service and has_command:
        body = f"export PORT=$((${{PORT:-{port}}} + ${{SLURM_ARRAY_TASK_ID:-0}}))\n"
    if not is_service:
        body = (
            'MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)\n'
            f'export MASTER_ADDR MASTER_PORT="${{MASTER_PORT:-{MASTER_PORT}}}" NNODES="$SLURM_NNODES"\n'
        )
    run = f"srun --cpus-per-task={resources.cpus}"
    if not has_command:
        asks = ': "${1:?give the command that was measured}"\n'
        return HEAD + head + STRICT + asks + body + f'{run} "$@"\n'
    start = "bash start.sh" if is_service else "bash -c 'NODE_RANK=\"$SLURM_NODEID\" exec bash start.sh'"
    return HEAD + head + STRICT + body + f"{run} {start}\n"
