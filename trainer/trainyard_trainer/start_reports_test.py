"""What a trainer tells about its base model when it starts."""

import json
import shutil

from testing.jobs import MODEL


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
