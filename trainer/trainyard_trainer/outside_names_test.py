"""Names, paths and addresses from users are only texts: nothing opens them or connects to them."""

import json
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants, hf_hub_download
from huggingface_hub.errors import LocalEntryNotFoundError
from transformers import AutoConfig

from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.process import go_offline

MARK = "somebody-elses"
PATH, ADDRESS, NAME = f"/tmp/{MARK}/secret", f"http://{MARK}.invalid/secret", f"{MARK}/model"
USED: list[str] = []
# Of the last no name is to be seen, as nothing here has to do with a network.
WATCHED, ANY = (
    ("open", "os.listdir", "os.scandir", "import", "urllib.", "subprocess.", "shutil."),
    ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"),
)


def watch(event: str, arguments: tuple) -> None:
    if event.startswith(ANY) or (event.startswith(WATCHED) and MARK in repr(arguments)):
        USED.append(f"{event} {arguments!r}")


@pytest.fixture(scope="module", autouse=True)
def watched():
    sys.addaudithook(watch)  # for as long as the process lives


@pytest.fixture(autouse=True)
def nothing_used_yet():
    USED.clear()


NAMES = {
    "file": PATH,
    "path": PATH,
    "url": ADDRESS,
    "model": NAME,
    "tokenizer": NAME,
    "adapter_path": PATH,
    "chat_template": f"{{% include '{PATH}' %}}{{{{ cycler.__init__.__globals__.os.popen('cat {PATH}') }}}}",
    "chat_template_kwargs": {"documents": [PATH]},
    "documents": [ADDRESS],
}
MEDIA = [
    {"type": "image_url", "image_url": {"url": ADDRESS}},
    {"type": "image", "image": PATH, "url": ADDRESS, "path": PATH},
    {"type": "input_audio", "input_audio": {"data": PATH}},
    {"type": "video", "video": f"file://{PATH}"},
    {"type": "file", "file": {"file_id": PATH}},
]
TEXT = {"type": "text", "text": "Name a colour.", "image_url": {"url": ADDRESS}, "image": PATH} | NAMES
ASK = {"role": "user", "content": [TEXT]} | NAMES
TOOL = {"type": "function", "function": {"name": NAME, "parameters": {"$ref": ADDRESS}}} | NAMES
CONFIG = {
    "kl_ref_adapter_path": PATH,
    "kl_penalty_coef": 0.1,
    "reference_model": NAME,
    "base_model_name_or_path": NAME,
    "resume_from_checkpoint": PATH,
    "trust_remote_code": True,
} | NAMES


def test_an_rl_job_opens_no_address_of_its_payload(jobs, make_choice):
    trajectories = [
        {"messages_and_choices": [ASK, make_choice(text) | NAMES], "tools": [TOOL], "reward": reward, "metadata": NAMES}
        | NAMES
        for text, reward in (("Red.", 1.0), ("Blue.", 0.0))
    ]
    group = {"trajectories": trajectories} | NAMES
    reports = jobs.run("RL", json.dumps({"trajectory_groups": [group]} | NAMES).encode(), CONFIG)
    assert len(reports.steps) == 1
    assert USED == []


def test_an_sft_job_opens_no_address_of_its_data(jobs):
    line = {"messages": [ASK, {"role": "assistant", "content": "Red."} | NAMES], "tools": [TOOL]} | NAMES
    reports = jobs.run("SFT", json.dumps(line).encode(), CONFIG)
    assert len(reports.steps) == 1
    assert USED == []


@pytest.mark.parametrize("part", MEDIA, ids=lambda part: part["type"])
def test_a_job_with_media_fails_and_opens_none(jobs, part):
    question = {"role": "user", "content": [TEXT, part]}
    line = {"messages": [question, {"role": "assistant", "content": "Red."}]}
    with pytest.raises(InvalidInput, match="Only text can be trained on"):
        jobs.run("SFT", json.dumps(line).encode(), {})
    assert USED == []


def test_the_test_detects_opened_addresses():
    with pytest.raises(FileNotFoundError):
        Path(PATH).read_bytes()
    assert [use.split()[0] for use in USED] == ["open"]


def test_no_hub_is_used_after_the_base_model_is_loaded(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    go_offline()
    with pytest.raises(OSError, match="offline mode"):
        AutoConfig.from_pretrained(NAME)
    with pytest.raises(LocalEntryNotFoundError):
        hf_hub_download(NAME, "config.json")
    assert [use for use in USED if use.startswith(ANY)] == []
