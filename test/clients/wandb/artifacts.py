"""The lives of artifacts, while the server is killed at chosen moments. The last line has what was seen."""

import atexit
import json
import os
import pathlib
import struct
import urllib.parse
import urllib.request

facts = {}
# The SDK prints lines at exit. What is registered first runs last.
atexit.register(lambda: print(json.dumps(facts)))

import wandb  # noqa: E402

project = os.environ["WANDB_PROJECT"]
facts["version"] = wandb.__version__
# The SDK waits seconds before it sends again. A test has no use for that.
settings = wandb.Settings(
    x_file_stream_transmit_interval=0.2,
    x_file_transfer_retry_wait_min_seconds=0.5,
    x_graphql_retry_wait_min_seconds=0.5,
    console="off",
)


def ask(**what):
    with urllib.request.urlopen(f"{os.environ['CONTROL_URL']}/?{urllib.parse.urlencode(what)}") as answer:
        answer.read()


def kill(when, marker):
    """The server is killed at the next request that contains the marker, and starts again."""
    ask(when=when, marker=marker)


def error_of(call):
    try:
        call()
        return "worked"
    except Exception as error:
        return str(error)


def make(name, files, kind="dataset"):
    artifact = wandb.Artifact(name, kind, metadata={"rows": len(files)})
    for path, content in files.items():
        with artifact.new_file(path, mode="wb") as file:
            file.write(content)
    return artifact


def read(folder):
    root = pathlib.Path(folder)
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


large = os.urandom(9 * 1024 * 1024)
first = {"small.txt": b"the first", "deep/large.bin": large}
second = {"small.txt": b"the second", "deep/large.bin": large}

run = wandb.init(project=project, id="writer", settings=settings)
run.log({"loss": 0})

# A version is logged, found again under its names, and equal content is the same version.
kill("sending", "PUT /v1/links/")
logged = run.log_artifact(make("data", first), aliases=["first"]).wait()
facts["logged"] = [logged.version, sorted(logged.aliases), logged.state]
kill("answering", "CommitArtifact")
changed = run.log_artifact(make("data", second), aliases=["second"]).wait()
facts["changed"] = [changed.version, sorted(changed.aliases)]
again = run.log_artifact(make("data", second), aliases=["again"]).wait()
facts["again"] = [again.version, again.id == changed.id]

# It is used and downloaded. The large file is the same in both versions.
facts["used"] = read(run.use_artifact("data:first").download(root="first")) == first
facts["newest"] = read(run.use_artifact("data:latest").download(root="second")) == second

# A checkpoint: a plain LoRA adapter of the model.
if os.environ.get("MODEL"):
    rank, size = 2, 8
    tensors = {}
    for at, side in enumerate(["A", "B"]):
        shape = [rank, size] if side == "A" else [size, rank]
        place = [at * rank * size * 4, (at + 1) * rank * size * 4]
        tensors[f"base_model.model.layers.0.q_proj.lora_{side}.weight"] = {
            "dtype": "F32",
            "shape": shape,
            "data_offsets": place,
        }
    header = json.dumps(tensors).encode()
    config = {
        "peft_type": "LORA",
        "r": rank,
        "lora_alpha": 4,
        "target_modules": ["q_proj"],
        "base_model_name_or_path": os.environ["BASE_MODEL"],
    }
    adapter = {
        "adapter_config.json": json.dumps(config).encode(),
        "adapter_model.safetensors": struct.pack("<Q", len(header)) + header + bytes(2 * rank * size * 4),
    }
    kill("copied", "CommitArtifact")
    checkpoint = run.log_artifact(make(os.environ["MODEL"], adapter, "lora"), aliases=["step3"]).wait()
    facts["checkpoint"] = [checkpoint.version, sorted(checkpoint.aliases)]
    facts["adapter"] = read(checkpoint.download(root="adapter")) == adapter
    weights = adapter["adapter_model.safetensors"]
    spoiled = adapter | {"adapter_model.safetensors": weights[:-4] + struct.pack("<f", float("nan"))}
    facts["not_finite"] = error_of(lambda: run.log_artifact(make(os.environ["MODEL"], spoiled, "lora")).wait(timeout=60))

# Files whose bytes are not those that were announced.
lying = make("lies", {"file.bin": b"x" * 100})
lying.manifest.entries["file.bin"].digest = "AAAAAAAAAAAAAAAAAAAAAA=="
facts["wrong_bytes"] = error_of(lambda: run.log_artifact(lying).wait(timeout=60))
lying = make("lies", {"file.bin": b"y" * 100})
lying.manifest.entries["file.bin"].size = 99
facts["wrong_size"] = error_of(lambda: run.log_artifact(lying).wait(timeout=60))

# Lines of a run. None is lost, and none is there twice.
for step in range(1, 200):
    if step == 100:
        kill("answering", "wandb-history.jsonl")
    run.log({"loss": step})
run.finish()

api = wandb.Api()
facts["steps"] = [row["loss"] for row in api.run(f"{project}/writer").scan_history()]
facts["versions"] = [[item.version, sorted(item.aliases)] for item in api.artifacts("dataset", f"{project}/data")]
facts["lies"] = error_of(lambda: api.artifact(f"{project}/lies:latest"))
facts["files"] = sorted(file.name for file in api.artifact(f"{project}/data:v0").files())

# Aliases and notes change, and versions are deleted.
version = wandb.Api().artifact(f"{project}/data:v0")
version.aliases.append("best")
version.aliases.remove("first")
version.metadata["checked"] = True
version.save()
saved = wandb.Api().artifact(f"{project}/data:best")
facts["saved"] = [saved.version, sorted(saved.aliases), saved.metadata["checked"]]
saved.delete(delete_aliases=True)
facts["deleted"] = error_of(lambda: wandb.Api().artifact(f"{project}/data:v0"))
facts["left"] = read(wandb.Api().artifact(f"{project}/data:latest").download(root="left")) == second

# A wrong key, and an entity whose storage becomes full.
wrong = error_of(lambda: wandb.Api(api_key="ty_" + "0" * 40).artifact(f"{project}/data:latest"))
facts["wrong_key"] = wrong
wandb.teardown()
wandb.login(key=os.environ["FULL_KEY"], relogin=True)
full = wandb.init(project=project, id="full", settings=settings)
ask(when="full")
facts["full"] = error_of(lambda: full.log_artifact(make("more", {"x": b"x" * 2000})).wait(timeout=60))
# Its run would wait for room.
ask(when="room")
full.finish()
