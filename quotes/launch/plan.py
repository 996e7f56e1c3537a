"""From a sized system to what starts it: one renderer per kind of load, one Slurm and one Kubernetes file for each.

Every value comes from the option that was sized; nothing is looked up elsewhere, so that an issued quote starts what
was quoted.
"""

import re
from collections.abc import Iterable
from math import ceil, floor

from catalog.quantity import Message, Quantity, noop
from configurator.workload import Job, LanguageService, LanguageTraining, Service, Workload
from quotes.launch.containers import GPU_RESOURCES
from quotes.launch.kubernetes import job_documents, service_documents
from quotes.launch.local import local_way
from quotes.launch.nouns import Command, LaunchFile, LaunchPlan, LoadLaunch, Resources, Way, note
from quotes.launch.rates import rate_way
from quotes.launch.serving import service_way
from quotes.launch.shell import slurm_script, start_script
from quotes.launch.training import training_way
from quotes.sizing.results import LoadOption, Portion, SizedSystem
from quotes.sizing.trace import Finding

LONGEST_NAME = 40
FIRST_PORT, PORTS = 8000, 100  # of the first service on a server, and how many each service may use
GIB = 2**30
ANSWERS = re.compile(r"instruct|chat|thinking|gpt-oss|-R1|-it\b", re.IGNORECASE)
"""Names of versions that were made to answer."""


def launch_plan(system: SizedSystem, workload: Workload) -> LaunchPlan:
    """How every load of `system` is started, in its order; empty where nothing was kept to start it by."""
    loads = system.candidate.loads
    if not any(load.settings or load.stack or load.model for load in loads):
        return LaunchPlan()
    parts = {part.name: part for part in (*workload.services, *workload.jobs)}
    folders = folder_names(load.load for load in loads)
    accelerators = system.candidate.system.node.accelerators
    return LaunchPlan(
        loads=tuple(
            _load(
                folder,
                load,
                parts[load.load],
                accelerators,
                FIRST_PORT + PORTS * number,
                beside_services=bool(workload.services),
            )
            for number, (folder, load) in enumerate(zip(folders, loads, strict=True))
            if load.load in parts
        )
    )


def folder_names(names: Iterable[str]) -> list[str]:
    """A different name for each, fit for a folder, a host and a label: letters, digits and dashes, a letter first."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_NAME].strip("-")
        plain = plain if plain[:1].isalpha() else f"load-{plain}".strip("-")
        number = 2
        unique = plain
        while unique in found:
            unique, number = f"{plain}-{number}", number + 1
        found.append(unique)
    return found


def _load(
    folder: str,
    option: LoadOption,
    part: Service | Job,
    accelerators: int,
    port: int,
    *,
    beside_services: bool,
) -> LoadLaunch:
    """`port` is the first of its replicas outside Kubernetes, where services share servers."""
    option = _without_options(option)
    is_service = option.kind.endswith("serving")
    resources = resources_of(option, accelerators)
    way = _way(folder, option, part)
    own = _on_its_part(way.command, option)
    command = own.with_default("PORT", str(port)) if own else None
    files: list[LaunchFile] = []
    if command:
        files.append(LaunchFile(name="start.sh", text=start_script(command)))
    files += way.files
    local = local_way(folder, option, part, port) if isinstance(part, LanguageService) else None
    files += [local[0]] if local else []
    slurm = slurm_script(
        folder, resources, port=port if is_service else None, has_command=command is not None
    )
    files.append(LaunchFile(name="slurm.sbatch", text=slurm))
    if resources.gpu_resource or not resources.gpus:
        documents = (
            service_documents(
                folder,
                _on_its_part(way.command, option),
                way.container,
                resources,
                reads_files=bool(way.files),
            )
            if is_service
            else job_documents(folder, way.command, way.container, resources)
        )
        files.append(LaunchFile(name="kubernetes.yaml", documents=documents))
    return LoadLaunch(
        load=option.load,
        folder=folder,
        kind="service" if is_service else "job",
        tool=way.tool,
        command=command,
        container=way.container,
        resources=resources,
        files=tuple(files),
        findings=(
            *way.findings,
            *([local[1]] if local else []),
            *_remarks(option, way, beside_services=beside_services),
        ),
    )


def _without_options(option: LoadOption) -> LoadOption:
    """A model whose name a program would take for an option counts as not named."""
    if option.model is None or not option.model.hub_id.startswith("-"):
        return option
    return option.model_copy(update={"model": option.model.model_copy(update={"hub_id": ""})})


def _way(folder: str, option: LoadOption, part: Service | Job) -> Way:
    if isinstance(part, LanguageService):
        return service_way(folder, option)
    if isinstance(part, LanguageTraining):
        return training_way(option, part)
    return rate_way(option, part)


def resources_of(option: LoadOption, accelerators: int) -> Resources:
    """Per replica of a service, per server of a job; `accelerators` in one server."""
    if option.kind.endswith("serving"):
        units, gpus = option.replicas, option.gpus_per_replica
    else:
        units = servers_of(option, accelerators)
        gpus = option.gpus // units
    return Resources(
        units=units,
        gpus=gpus,
        gpu_resource=_resource(option),
        gres=_gres(option.portion) if option.portion else "",
        cpus=max(1, ceil(option.host.cpu_cores_per_gpu * gpus - 1e-9)),
        memory_gib=floor(option.host.ram_gb_per_gpu * gpus * 1e9 / GIB),
    )


def _resource(option: LoadOption) -> str:
    """As NVIDIA's device plugin names parts: MIG by profile, MPS as shared GPUs."""
    whole = GPU_RESOURCES.get(option.stack, "")
    if not option.portion or not whole:
        return whole
    return f"nvidia.com/mig-{option.portion.name}" if option.portion.kind == "mig" else f"{whole}.shared"


def _gres(portion: Portion) -> str:
    """As Slurm names parts: MIG by profile, MPS in hundredths of a GPU."""
    return f"gpu:{portion.name}:1" if portion.kind == "mig" else f"mps:{_percent(portion)}"


def _percent(portion: Portion) -> int:
    return round(100 * portion.compute_fraction)


def _on_its_part(command: Command | None, option: LoadOption) -> Command | None:
    """MPS holds a program to its share of the processors; its share of the memory stands in the command."""
    if command is None or not option.portion or option.portion.kind != "mps":
        return command
    share = {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": str(_percent(option.portion))}
    return command.model_copy(update={"environment": {**command.environment, **share}})


def servers_of(option: LoadOption, accelerators: int) -> int:
    """Servers that a job spans with equally many GPUs on each. A language job was timed on servers of a known size."""
    if option.kind == "training":
        return -(-option.gpus // option.gpus_in_one_node)  # whole servers, by the search
    least = -(-option.gpus // max(accelerators, 1))
    return next(count for count in range(least, option.gpus + 1) if option.gpus % count == 0)


def _remarks(option: LoadOption, way: Way, *, beside_services: bool) -> tuple[Finding, ...]:
    found = []
    if option.portion:
        text = (
            noop(
                "Sized on a part of a GPU: divide it by MIG first, and give each replica a part {part}. Kubernetes "
                "names parts as in kubernetes.yaml with the strategy ‘mixed’; in Slurm write the name that "
                "your cluster gave them."
            )
            if option.portion.kind == "mig"
            else noop(
                "Sized on {part} of a GPU: start the control daemon of MPS first. Under Kubernetes the device plugin "
                "does that, when it shares GPUs by MPS with renameByDefault."
            )
        )
        found.append(note(Message.of(text, part=option.portion.name), warns=True))
    if option.shares_pool and option.kind.endswith("training") and beside_services:
        text = noop(
            "This job may use the accelerators of the services outside their busy hours. Stop those services first: "
            "they hold the memory."
        )
        found.append(note(Message.of(text)))
    if way.command and option.host.fabric_gbit_s_per_gpu:
        text = noop(
            "Between servers the speed counts on the fast network ({rate} for each GPU). Under Kubernetes add its "
            "cards to kubernetes.yaml as your cluster names them: without them the traffic goes over the ordinary "
            "network."
        )
        rate = Quantity(value=option.host.fabric_gbit_s_per_gpu, unit="Gbit/s", digits=3)
        found.append(note(Message.of(text, rate=rate), warns=True))
    if way.command and option.model and option.model.hub_id:
        text = noop(
            "Read the licence of {model} on its page before you download it. Some publishers ask you to accept it "
            "with your own account."
        )
        found.append(note(Message.of(text, model=option.model.hub_id)))
        if option.kind == "serving" and not ANSWERS.search(option.model.hub_id):
            text = noop(
                "Publishers often have two versions of one size: one that only completes text, and one that answers "
                "questions (Instruct, Chat or it). If that is so for {model}, start the second: memory and speed are "
                "the same."
            )
            found.append(note(Message.of(text, model=option.model.hub_id)))
    if way.container and not way.container.version:
        text = noop("Choose a version of the image {image}: no version of it was measured.")
        found.append(note(Message.of(text, image=way.container.image)))
    elif way.container:
        text = noop("What was sized rests on measurements with {image} {version}.")
        found.append(note(Message.of(text, image=way.container.image, version=way.container.version)))
    elif way.command:
        text = noop("No image is named for this accelerator: ask its maker for one with this program.")
        found.append(note(Message.of(text)))
    return tuple(found)
