"""What a trainer tells about its base model when it starts."""

import hashlib
import json
import shutil

from testing.jobs import LORA, MODEL
from trainyard_artifacts.checkpoints import ADAPTER_CONFIG, ADAPTER_WEIGHTS, MANIFEST
from trainyard_artifacts.store import FolderStore
from trainyard_trainer.untrained import publish_untrained


def test_a_trainer_tells_how_far_its_download_is_and_which_layers_it_does_not_train(
    hub, status_server, start_trainer, tmp_path
):
    folder = tmp_path / "model"
    shutil.copytree(MODEL, folder)
    commit = hub.push(folder)
    hub.bytes_per_second = 2_000_000
    start_trainer(
        main="testing.model_hub:run_trainer",
        HF_ENDPOINT=hub.address,
        HF_HUB_CACHE=str(tmp_path / "hub"),
        TRAINYARD_MODEL="org/model",
        TRAINYARD_MODEL_REVISION=commit,
        TRAINYARD_LORA=json.dumps({"rank": 8, "alpha": 16, "target_modules": ["q_proj"]}),
    )
    reports = status_server.of_base_models
    status_server.wait_for(lambda: reports["untrained-layers"])
    total = sum(file.stat().st_size for file in folder.iterdir())
    first, last = reports["download-progress"][0], reports["download-progress"][-1]
    assert first["done_bytes"] < first["total_bytes"] == total
    assert last == {"done_bytes": total, "total_bytes": total}
    [layers] = reports["untrained-layers"]
    assert layers["base_model"] == "trainyard/tiny-chat"
    assert {"k_proj", "v_proj", "o_proj"} <= set(layers["layers"])
    assert 0 < layers["share"] < 1


class Reports(list):
    """Collects what a trainer tells. It replaces the status server's client."""

    def post(self, path: str, body: dict) -> None:
        self.append((path, body))


def test_a_trainer_stores_the_adapter_that_a_first_job_starts_from(scheduler, jobs, tmp_path):
    # Other jobs have used its slot.
    conversation = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    jobs.run("SFT", json.dumps(conversation).encode(), {"learning_rate": 1e-3})
    untouched = jobs.run("SFT", json.dumps(conversation).encode(), {"learning_rate": 0.0})
    reports, store = Reports(), FolderStore(tmp_path / "store")
    store.root.mkdir()
    publish_untrained(scheduler, LORA, store, reports)
    [(path, report)] = reports
    assert (path, report["base_model"]) == ("/v1/untrained-adapter", "trainyard/tiny-chat")
    folder = store.root / report["uri"].removeprefix("artifact:///")
    assert sorted(file.name for file in folder.iterdir()) == [ADAPTER_CONFIG, ADAPTER_WEIGHTS, MANIFEST]
    for name in (ADAPTER_CONFIG, ADAPTER_WEIGHTS):
        assert (folder / name).read_bytes() == (jobs.locate(untouched) / name).read_bytes()
    assert report["files"] == [describe(folder / name) for name in (ADAPTER_CONFIG, ADAPTER_WEIGHTS)]

    stored = (folder / MANIFEST).stat()
    publish_untrained(scheduler, LORA, store, reports)
    assert reports[1] == reports[0]
    assert (folder / MANIFEST).stat() == stored


def describe(path) -> dict:
    content = path.read_bytes()
    return {"path": path.name, "size": len(content), "md5": hashlib.md5(content).hexdigest()}


def test_a_trainer_tells_where_it_has_stored_the_adapter(status_server, start_trainer):
    start_trainer()
    reports = status_server.of_base_models["untrained-adapter"]
    status_server.wait_for(lambda: reports)
    assert (status_server.root / reports[0]["uri"].removeprefix("artifact:///") / ADAPTER_WEIGHTS).exists()
