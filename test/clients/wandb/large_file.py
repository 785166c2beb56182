"""A file that the SDK sends in parts goes up and comes back. The last line has what was seen."""

import hashlib
import json
import os
import pathlib
import tempfile

import wandb

MIB = 1024 * 1024
size = int(os.environ["MEBIBYTES"]) * MIB
block = os.urandom(MIB)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder, "large.bin")
    with source.open("wb") as file:
        for number in range(size // MIB):
            file.write(number.to_bytes(8, "big") + block[8:])
    sent = digest(source)
    with wandb.init(project=os.environ["WANDB_PROJECT"], settings=wandb.Settings(console="off")) as run:
        artifact = wandb.Artifact("large", "dataset")
        artifact.add_file(str(source), policy="immutable", skip_cache=True)
        run.log_artifact(artifact).wait()
        path = artifact.source_qualified_name
    source.unlink()
    back = wandb.Api().artifact(path).download(root=f"{folder}/back", skip_cache=True)
    received = pathlib.Path(back, "large.bin")
    facts = {"bytes": received.stat().st_size, "same": digest(received) == sent}
print(json.dumps(facts))
