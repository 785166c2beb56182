"""The lives of runs: written by wandb.init and log, and read back by the public API. The last line has what was seen."""

import atexit
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

facts = {}
# The SDK prints lines at exit. What is registered first runs last.
atexit.register(lambda: print(json.dumps(facts)))

import numpy  # noqa: E402
import PIL.Image  # noqa: E402
import wandb  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from wandb.cli.cli import cli  # noqa: E402

project = os.environ["WANDB_PROJECT"]
facts["version"] = wandb.__version__

# A run with everything that a script logs.
run = wandb.init(
    project=project,
    id="first",
    name="The first",
    notes="some notes",
    group="a group",
    job_type="train",
    tags=["one", "two"],
    config={"lr": 0.5, "optimizer": {"name": "adam", "betas": [0.9, 0.99]}, "dots.in": 3},
)
run.define_metric("epoch", hidden=True)
run.define_metric("val/*", step_metric="epoch", summary="max")
for step in range(30):
    run.log({"loss": 1 / (step + 1), "accuracy": step / 30, "val/score": step % 20, "epoch": step // 10})
pixels = numpy.arange(48, dtype=numpy.uint8).reshape(4, 4, 3)
run.log(
    {
        "odd": float("nan"),
        "far": float("inf"),
        "text": "a \u00e9 \U0001f600 line",
        "nested": {"inner": 7},
        "histogram": wandb.Histogram(numpy.arange(10)),
        "image": wandb.Image(pixels, caption="a square"),
        "table": wandb.Table(columns=["a", "b"], data=[[1, "x"], [2, "y"]]),
    }
)
print("a line of output")
pathlib.Path("notes.txt").write_text("a file of the run")
run.save("notes.txt")
run.summary["best"] = 0.25
run.config.update({"later": True})
facts["url"] = run.url
run.finish()

# It is resumed, and continues its steps.
run = wandb.init(project=project, id="first", resume="must")
facts["starting_step"] = run.starting_step
run.log({"loss": 0.001})
run.finish()

# Runs that end in other ways.
failed = wandb.init(project=project, id="failed", config={"lr": 0.1, "optimizer": {"name": "sgd"}})
failed.log({"loss": 9})
failed.finish(exit_code=3)
never = wandb.init(project=project, id="never", resume="never", config={"lr": 2})
never.log({"loss": 5.5})
for content in ["one", "two"]:
    artifact = wandb.Artifact("gone", "dataset")
    with artifact.new_file("file.txt") as file:
        file.write(content)
    never.log_artifact(artifact, aliases=["best"])
never.finish()
try:
    wandb.init(project=project, id="none", resume="must")
    facts["must"] = "began"
except Exception as error:
    facts["must"] = type(error).__name__
try:
    wandb.init(project=project, id="never", resume="never")
    facts["never"] = "began"
except Exception as error:
    facts["never"] = type(error).__name__

# A run without a connection, which is sent later.
offline = wandb.init(project=f"{project}-offline", id="offline", mode="offline", tags=["later"], config={"lr": 3})
for step in range(3):
    offline.log({"loss": step + 7})
folder = pathlib.Path(offline.dir).parent
offline.finish()
subprocess.run([sys.executable, "-m", "wandb", "sync", str(folder)], check=True, capture_output=True, timeout=120)

# What the public API reads.
api = wandb.Api()
read = api.run(f"{project}/first")
facts["run"] = {
    "name": read.name,
    "state": read.state,
    "notes": read.notes,
    "group": read.group,
    "job_type": read.job_type,
    "tags": read.tags,
    "config": read.config,
    "loss": read.summary["loss"],
    "best": read.summary["best"],
    "nested": read.summary["nested"]["inner"],
    "lastStep": read.lastHistoryStep,
}
rows = list(read.scan_history())
facts["scanned"] = [row["loss"] for row in rows if row.get("loss") is not None]
facts["odd"] = [str(row["odd"]) for row in rows if row.get("odd") is not None]
facts["far"] = [str(row["far"]) for row in rows if row.get("far") is not None]
facts["text"] = [row["text"] for row in rows if row.get("text") is not None]
facts["keyed"] = [row["accuracy"] for row in read.scan_history(keys=["_step", "accuracy"])]
facts["keyed_pages"] = [row["accuracy"] for row in read.scan_history(keys=["accuracy"], page_size=7)]
facts["from_step"] = [row["loss"] for row in read.scan_history(keys=["loss"], min_step=2, max_step=4)]
only = api.run(f"{project}/never").scan_history(keys=["loss"])
facts["only_line"] = [row["loss"] for row in only]
facts["pages"] = len(list(read.scan_history(page_size=7)))
facts["history"] = len(read.history(pandas=False))
facts["samples"] = [row["loss"] for row in read.history(keys=["loss"], samples=5, pandas=False)]
facts["inner"] = read.history(keys=["nested.inner"], pandas=False)


def media(key):
    """The one value of a key in the history, and where its file is then."""
    (value,) = [row[key] for row in rows if row.get(key)]
    read.file(value["path"]).download(root="media", replace=True).close()
    return value, pathlib.Path("media") / value["path"]


image, image_path = media("image")
with PIL.Image.open(image_path) as opened:
    facts["image"] = [image["_type"], image["caption"], bool((numpy.array(opened) == pixels).all())]
table, table_path = media("table")
facts["table"] = [table["_type"], table["nrows"], json.loads(table_path.read_text())["data"]]
logged = api.artifact(f"{project}/run-first-table:latest").get("table")
facts["table_artifact"] = [logged.columns, logged.data]
(histogram,) = [row["histogram"] for row in rows if row.get("histogram")]
facts["histogram"] = [sum(histogram["values"]), histogram["bins"][0], histogram["bins"][-1]]
facts["defined"] = [read.summary["val/score"]["max"], read.summary["epoch"]]
facts["system"] = isinstance(read.history(stream="system", pandas=False), list)
facts["files"] = sorted(file.name for file in read.files())
with read.file("notes.txt").download(root="down", replace=True) as file:
    facts["content"] = file.read()
facts["metadata"] = read.metadata["program"] is not None
if hasattr(read, "console_logs"):
    facts["output"] = [line.content for line in read.console_logs() if "a line of output" in line.content]


def names(filters=None, order="+created_at", per_page=50):
    return [run.id for run in api.runs(project, filters=filters, order=order, per_page=per_page)]


facts["runs"] = {
    "all": names(),
    "paged": names(per_page=1),
    "newest": names(order="-created_at"),
    "by_loss": names(order="+summary_metrics.loss"),
    "by_rate": names(order="-config.lr.value"),
    "state": names({"state": "failed"}),
    "config": names({"config.lr": {"$gte": 0.5}}),
    "nested": names({"config.optimizer.name": "adam"}),
    "value": names({"config.lr.value": 2}),
    "or": names({"$or": [{"config.lr": 0.1}, {"display_name": {"$regex": "^The"}}]}),
    "tags": names({"tags": {"$in": ["two"]}}),
    "summary": names({"summary_metrics.loss": {"$lt": 1}}),
    "exists": names({"config.later": {"$exists": True}}),
    "not": names({"$not": {"state": "finished"}}),
    "time": names({"createdAt": {"$gt": "2020-01-01T00:00:00"}}),
}
facts["count"] = len(api.runs(project))
facts["projects"] = [project.name for project in api.projects()]
facts["project"] = api.project(project).name
try:
    names({"config.lr": {"$near": 1}})
    facts["operator"] = "accepted"
except Exception as error:
    facts["operator"] = str(error)

# Changes by the public API.
read.tags = [*read.tags, "three"]
read.config["changed"] = "yes"
read.summary["after"] = 1
read.update()
again = wandb.Api().run(f"{project}/first")
facts["updated"] = [again.tags, again.config["changed"], again.config["lr"], again.summary["after"], again.state]
again.file("notes.txt").delete()
facts["left"] = len([file for file in again.files() if file.name == "notes.txt"])
doomed = wandb.Api().run(f"{project}/never")
facts["logged"] = [artifact.name for artifact in doomed.logged_artifacts(per_page=1)]
try:
    facts["used"] = [artifact.name for artifact in doomed.used_artifacts()]
except Exception as error:
    facts["used"] = str(error)
doomed.delete(delete_artifacts=True)
facts["artifacts"] = [
    wandb.Api().artifact_exists(f"{project}/{name}") for name in ["gone:v0", "gone:latest", "run-first-table:latest"]
]
facts["deleted"] = [run.id for run in wandb.Api().runs(project)]
try:
    wandb.Api().run(f"{project}/never")
    facts["gone"] = "found"
except Exception as error:
    facts["gone"] = type(error).__name__

synced = wandb.Api().run(f"{project}-offline/offline")
facts["synced"] = {
    "losses": [row["loss"] for row in synced.scan_history()],
    "summary": synced.summary["loss"],
    "state": synced.state,
    "tags": synced.tags,
    "lr": synced.config["lr"],
}


# What is not there, or not allowed: what each call says, and for how long the longest one takes.
def fail(call):
    started = time.time()
    try:
        result = f"worked: {call()}"
    except Exception as error:
        result = str(error)
    facts["slowest"] = max(facts.get("slowest", 0), time.time() - started)
    return result


search = {"method": "random", "parameters": {"x": {"values": [1]}}}
api = wandb.Api()
facts["unsupported"] = {
    "sweep": fail(lambda: wandb.sweep(search, project=project)),
    "sweeps": fail(lambda: api.sweep(f"{project}/none").config),
    "agent": fail(lambda: wandb.agent("none", function=print, project=project, count=1)),
    "reports": fail(lambda: list(api.reports(project))),
    "queue": fail(lambda: api.create_run_queue("queue", type="local-process")),
    "run_queue": fail(lambda: api.run_queue(api.default_entity, "queue").id),
    "automations": fail(lambda: list(api.automations())),
    "registries": fail(lambda: list(api.registries())),
    "team": fail(lambda: api.create_team("team")),
}
facts["foreign"] = {
    "init": fail(lambda: wandb.init(project=project, entity="somebody-else")),
    "run": fail(lambda: api.run(f"somebody-else/{project}/first")),
    "runs": fail(lambda: len(api.runs(f"somebody-else/{project}"))),
}


# The entity becomes full while a run is running. It gets room again when another run could not begin and the server has
# rejected lines.
def stored_bytes():
    limits = urllib.request.Request(
        f"{os.environ['WANDB_BASE_URL']}/v1/preview/limits",
        headers={"Authorization": f"Bearer {os.environ['WANDB_API_KEY']}"},
    )
    return json.load(urllib.request.urlopen(limits))["stored_bytes"]


often = wandb.Settings(x_file_stream_transmit_interval=1)
full = wandb.init(project=project, id="full", settings=often)
while stored_bytes() != 1:
    time.sleep(0.1)
facts["no_room"] = fail(lambda: wandb.init(project=project, id="no-room", reinit="create_new"))
pathlib.Path(os.environ["NO_ROOM_FILE"]).touch()
for step in range(50):
    full.log({"loss": step})
pathlib.Path("full.txt").write_text("saved while the entity was full")
full.save("full.txt")
full.finish()
read = wandb.Api().run(f"{project}/full")
with read.file("full.txt").download(root="down", replace=True) as file:
    facts["full"] = [[row["loss"] for row in read.scan_history()], read.state, file.read()]

# The entity of the environment. Agents of 0.25 leave the name of their sweep there.
wandb.teardown()
os.environ.pop("WANDB_SWEEP_ID", None)
os.environ["WANDB_ENTITY"] = "somebody-else"
facts["foreign_env"] = {
    "init": fail(lambda: wandb.init(project=project)),
    "run": fail(lambda: wandb.Api().run(f"{project}/first")),
}

# The commands, last because they change the settings of this process.
del os.environ["WANDB_ENTITY"]
wandb.teardown()


def command(*words):
    return CliRunner().invoke(cli, words)


def verify(key):
    return command("login", "--verify", "--relogin", key).exit_code


facts["login"] = [verify(os.environ["WANDB_API_KEY"]), verify("ty_" + "0" * 40)]
facts["status"] = os.environ["WANDB_BASE_URL"] in command("status").output
