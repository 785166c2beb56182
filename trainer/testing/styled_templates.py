"""Chat templates in the styles of public models, for the tiny chat model's tokenizer.

Those in the folder itself are shortened to how turns begin and end. Those in `full` write whole prompts like their
models: thoughts, tools, dates, documents.
"""

import copy
import re
import shutil
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase

MODEL = Path(__file__).parents[1] / "models" / "tiny-chat"
FOLDER = Path(__file__).parent / "template_styles"
STYLES = sorted(file.stem for file in FOLDER.glob("*.jinja"))
FULL_STYLES = sorted(f"full/{file.stem}" for file in (FOLDER / "full").glob("*.jinja"))
SPECIAL = re.compile(
    r"<[|\uff5c]/?[\w\u2581]+[|\uff5c]>|\[/?[A-Z_]+\]|</?s>|<bos>|<(?:start|end)_of_\w+>|<BOS_TOKEN>|</?think>"
    r"|\]~!b\[|\]~b\]|\[e~\["  # the last are MiniMax's
)
# The templates are composed of parts.
MADE = ["user", "assistant", "system", "USER_TOKEN", "CHATBOT_TOKEN", "SYSTEM_TOKEN"]


def read_template(style: str) -> str:
    return (FOLDER / f"{style}.jinja").read_text()


def dress(tokenizer: PreTrainedTokenizerBase, style: str) -> PreTrainedTokenizerBase:
    """Copies the tokenizer with a style's template. The style's markers become tokens."""
    dressed = copy.deepcopy(tokenizer)
    dressed.chat_template = read_template(style)
    add_markers(dressed, [style])
    return dressed


def add_markers(tokenizer: PreTrainedTokenizerBase, styles: list[str]) -> None:
    markers = [marker for style in styles for marker in SPECIAL.findall(read_template(style))]
    tokenizer.add_tokens(list(dict.fromkeys(markers + [f"<|{name}|>" for name in MADE])), special_tokens=True)


def save_styled_model(folder: Path, styles: list[str]) -> PreTrainedTokenizerBase:
    """The tiny chat model with the markers of these styles, for an engine that gets the template with each request."""
    shutil.copytree(MODEL, folder)
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    add_markers(tokenizer, styles)
    tokenizer.bos_token = "<bos>"
    tokenizer.save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(MODEL)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    model.save_pretrained(folder)
    return tokenizer
