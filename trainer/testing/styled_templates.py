"""Shortened chat templates in the styles of public models, for the tiny chat model's tokenizer."""

import copy
import re
from pathlib import Path

from transformers import PreTrainedTokenizerBase

FOLDER = Path(__file__).parent / "template_styles"
STYLES = sorted(file.stem for file in FOLDER.glob("*.jinja"))
SPECIAL = re.compile(r"<\|\w+\|>|\[/?[A-Z_]+\]|</?s>|<bos>|<(?:start|end)_of_turn>|<BOS_TOKEN>|</?think>")
# The templates are composed of parts.
MADE = ["user", "assistant", "system", "USER_TOKEN", "CHATBOT_TOKEN", "SYSTEM_TOKEN"]


def dress(tokenizer: PreTrainedTokenizerBase, style: str) -> PreTrainedTokenizerBase:
    """Copies the tokenizer with a style's template. The style's markers become tokens."""
    dressed = copy.deepcopy(tokenizer)
    dressed.chat_template = (FOLDER / f"{style}.jinja").read_text()
    markers = SPECIAL.findall(dressed.chat_template) + [f"<|{name}|>" for name in MADE]
    dressed.add_tokens(list(dict.fromkeys(markers)), special_tokens=True)
    return dressed
