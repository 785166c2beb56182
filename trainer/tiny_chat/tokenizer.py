"""The byte-level BPE tokenizer of the tiny chat model: any UTF-8 text, 1,024 ids, ChatML's special tokens."""

from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

VOCABULARY_SIZE = 1024
CONTEXT_LENGTH = 4096
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PAD_ID, _, END_ID = range(3)  # the vocabulary's trainer puts special tokens first
# A word includes the space before it. Digits are separate tokens, so that a small model can do sums.
PIECES = Regex(r" ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


def train_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Learns merges from the texts. The alphabet has all 256 bytes, so that no text is unknown."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(PIECES, behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=Path(__file__).with_name("chat_template.jinja").read_text(),
        model_max_length=CONTEXT_LENGTH,
        clean_up_tokenization_spaces=False,
    )
