"""The committed model belongs to the script beside it. A change of the script requires a new model."""

import json

import pytest

from conftest import MODEL
from tiny_chat.pretrain import build_model, list_texts, save_model
from tiny_chat.tokenizer import train_tokenizer


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The script's output without the training of the weights, which takes minutes."""
    folder = tmp_path_factory.mktemp("tiny-chat")
    tokenizer = train_tokenizer(list_texts())
    save_model(build_model(), tokenizer, folder)
    return folder


def test_the_script_makes_the_same_files(made):
    assert sorted(path.name for path in made.iterdir()) == sorted(path.name for path in MODEL.iterdir())


@pytest.mark.parametrize("name", ["chat_template.jinja", "tokenizer.json", "tokenizer_config.json"])
def test_template_and_vocabulary_are_the_script_s(made, name):
    assert (made / name).read_text() == (MODEL / name).read_text()


@pytest.mark.parametrize("name", ["config.json", "generation_config.json"])
def test_the_architecture_is_the_script_s(made, name):
    def read(folder):
        return {key: value for key, value in read_json(folder / name).items() if key != "transformers_version"}

    assert read(made) == read(MODEL)


def test_the_weights_have_the_script_s_names_and_shapes(made):
    # The header of a safetensors file has shapes and types. They determine the file's size.
    assert read_header(made) == read_header(MODEL)


def read_json(path) -> dict:
    return json.loads(path.read_text())


def read_header(folder) -> bytes:
    with (folder / "model.safetensors").open("rb") as file:
        return file.read(int.from_bytes(file.read(8), "little"))
