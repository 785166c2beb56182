"""Members of a message, or of a Choice, that say whether it is trained."""

from trainyard_trainer.data.json_input import get_message, is_choice
from trainyard_trainer.failures import InvalidInput

# OpenAI's, and those of other trainers.
MARKS = ("weight", "trainable", "train")


def is_masked(item: dict, where: str) -> bool:
    """Whether a message, or the Choice that contains it, is not to be trained. InvalidInput if that is unclear."""
    holders = [item, get_message(item)] if is_choice(item) else [item]
    marks = [is_marked(holder, where) for holder in holders]
    return any(marks)


def is_marked(holder: dict, where: str) -> bool:
    weight, *flags = (holder.get(name) for name in MARKS)
    if isinstance(weight, bool) or weight not in (None, 0, 1):
        raise InvalidInput(f"{where}.weight must be 0 or 1.")
    for name, flag in zip(MARKS[1:], flags, strict=True):
        if not isinstance(flag, bool | None):
            raise InvalidInput(f"{where}.{name} must be true or false.")
    return weight == 0 or False in flags
