import torch
from transformers import AutoModelForCausalLM, Qwen3_5Config, Qwen3Config

from trainyard_base_model.names import AdapterNames, find_names

SIZES = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
TEXT = SIZES | {"vocab_size": 64, "num_key_value_heads": 2, "head_dim": 16, "layer_types": ["full_attention"]}
NAMES = AdapterNames("model", "model.language_model")
SHORT = "base_model.model.model.layers.0.mlp.up_proj.lora_A.weight"
STORED = "base_model.model.model.language_model.layers.0.mlp.up_proj.lora_A.weight"


def find(config):
    with torch.device("meta"):
        return find_names(config, AutoModelForCausalLM.from_config(config))


def test_the_text_decoder_of_a_larger_model_has_the_names_of_the_repository():
    config = Qwen3_5Config(text_config=TEXT, vision_config={"depth": 1, "hidden_size": 32, "num_heads": 2})
    config.architectures = ["Qwen3_5ForConditionalGeneration"]
    assert find(config) == NAMES
    config.architectures = ["ClassOfItsOwn"]
    assert find(config) == AdapterNames()


def test_a_whole_model_keeps_its_names():
    config = Qwen3Config(**TEXT, architectures=["Qwen3ForCausalLM"])
    assert find(config) == AdapterNames()
    assert AdapterNames().to_file(SHORT) == SHORT


def test_names_in_files_stay_as_they_are():
    assert [NAMES.to_file(name) for name in (SHORT, STORED)] == [STORED, STORED]
    head = "base_model.model.lm_head.lora_A.weight"
    assert NAMES.to_file(head) == head
