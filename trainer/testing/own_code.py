"""Python code beside the weights of a model, which runs only if the administrator trusts it."""

import json
from pathlib import Path

CODE = """
import pathlib
from transformers import LlamaConfig, LlamaForCausalLM
pathlib.Path({marker!r}).write_text("ran")
class StrangeConfig(LlamaConfig):
    model_type = "strange"
class Strange(LlamaForCausalLM):
    config_class = StrangeConfig
"""


def add_own_code(folder: Path, marker: Path) -> None:
    """The code writes the file `marker` when it runs. Engines have the architecture, but not the configuration."""
    config = json.loads((folder / "config.json").read_text())
    code = {"AutoConfig": "strange.StrangeConfig", "AutoModelForCausalLM": "strange.Strange"}
    config |= {"model_type": "strange", "auto_map": code}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "strange.py").write_text(CODE.format(marker=str(marker)))
