"""Loads as Kubernetes objects: a Deployment with its Service, or a Job with one indexed pod per server.

Jobs read their files from a ConfigMap that `kubectl create configmap` makes of the folder.
"""

from collections.abc import Mapping
from typing import Any

from quotes.launch.nouns import CHOOSE, Command, Container, Resources, Setting, Word
from quotes.launch.shell import MASTER_PORT

PORT = 8000
HEALTH = "/health"  # of vLLM, SGLang, TensorRT-LLM and Infinity alike
FOLDER = "/launch"
SHARED_MEMORY: Mapping[str, Any] = {"name": "shared-memory", "emptyDir": {"medium": "Memory"}}


def literal(word: Word) -> str:
    """`word` where Kubernetes expands `$(NAME)`."""
    return f"$({word.name})" if isinstance(word, Setting) else word.replace("$(", "$$(")


def _environment(command: Command) -> list[dict[str, str]]:
    # What has no default is left for whoever fills it in; an empty value stops the program with its own message.
    settings = [{"name": setting.name, "value": setting.default} for setting in command.settings]
    return [{"name": name, "value": value} for name, value in command.environment.items()] + settings


def _image(container: Container | None) -> str:
    return f"{container.image}:{container.version or CHOOSE}" if container else f"CHOOSE-AN-IMAGE:{CHOOSE}"


def _resources(resources: Resources) -> dict[str, Any]:
    asked: dict[str, Any] = {"cpu": str(resources.cpus)}
    if resources.memory_gib:
        asked["memory"] = f"{resources.memory_gib}Gi"
    gpus = {resources.gpu_resource: str(resources.gpus)} if resources.gpus else {}
    return {"requests": asked | gpus, "limits": gpus} if gpus else {"requests": asked}


def _pod(container: dict[str, Any], volumes: list[dict[str, Any]]) -> dict[str, Any]:
    mounts = [{"name": "shared-memory", "mountPath": "/dev/shm"}]  # noqa: S108  where engines share tensors
    mounts += [{"name": volume["name"], "mountPath": FOLDER} for volume in volumes]
    return {
        "enableServiceLinks": False,  # a Service called vllm would set VLLM_PORT, which the engine reads
        "containers": [container | {"volumeMounts": mounts}],
        "volumes": [dict(SHARED_MEMORY), *volumes],
    }


def _files(name: str) -> dict[str, Any]:
    return {"name": "files", "configMap": {"name": name}}


def service_documents(
    name: str,
    command: Command | None,
    container: Container | None,
    resources: Resources,
    *,
    reads_files: bool,
) -> tuple[Mapping[str, Any], ...]:
    """Every replica of a service behind one address. `name` is a folder name."""
    labels = {"app": name}
    running: dict[str, Any] = {"name": name, "image": _image(container), "resources": _resources(resources)}
    if command:
        running |= {
            "command": [literal(word) for word in command.words],
            "env": _environment(command),
            "ports": [{"containerPort": PORT}],
            "readinessProbe": {"httpGet": {"path": HEALTH, "port": PORT}, "periodSeconds": 10},
        }
    volumes = [_files(name)] if reads_files else []
    if reads_files:
        running["workingDir"] = FOLDER
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": resources.units,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod(running, volumes)},
        },
    }
    address = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": labels, "ports": [{"port": PORT, "targetPort": PORT}]},
    }
    return deployment, address


def job_documents(
    name: str, command: Command | None, container: Container | None, resources: Resources
) -> tuple[Mapping[str, Any], ...]:
    """One pod per server; the first is where the others meet."""
    running: dict[str, Any] = {"name": name, "image": _image(container), "resources": _resources(resources)}
    if command:
        meeting = {
            "NNODES": str(resources.units),
            "MASTER_ADDR": f"{name}-0.{name}",
            "MASTER_PORT": str(MASTER_PORT),
        }
        rank = {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
        running |= {
            "command": ["bash", f"{FOLDER}/start.sh"],
            "workingDir": FOLDER,
            "env": [
                *({"name": key, "value": value} for key, value in meeting.items()),
                {"name": "NODE_RANK", "valueFrom": {"fieldRef": rank}},
                *(row for row in _environment(command) if row["name"] not in {*meeting, "NODE_RANK"}),
            ],
        }
    files = [_files(name)] if command else []
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completionMode": "Indexed",
            "completions": resources.units,
            "parallelism": resources.units,
            "backoffLimit": 0,
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"subdomain": name, "restartPolicy": "Never"} | _pod(running, files),
            },
        },
    }
    address = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"clusterIP": "None", "selector": {"app": name}},
    }
    return job, address
