"""Splits a conversation before its last answer: the prompt for it, and what is learnt."""

from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.sft.row_members import REASONING
from trainyard_trainer.tokens.assistant_spans import Conversation


def split_last_answer(conversation: Conversation) -> tuple[str, str]:
    """The prompt as the template writes it for an answer, and the answer with what ends it.

    Some templates write a prompt that the finished conversation does not begin with. Then the answer begins where its
    content does, as in ART, or behind the prompt for an answer with a thought.
    """
    if conversation.messages[-1]["role"] != "assistant":
        raise InvalidInput("The last message must be the assistant's if assistant_turns is last.", "NoLastAnswer")
    before, text = conversation.messages[:-1], conversation.text
    prompt = conversation.render(before, answering=True)
    if text.startswith(prompt):
        answer = text[len(prompt) :]
    elif (start := find_content(conversation, prompt)) is not None:
        answer = text[start:]
    else:
        prompt = conversation.render(before, answering=True, thinking=True)
        answer = text.removeprefix(prompt) if text.startswith(prompt) else ""
    if not answer:
        message = "With the chat template of the base model, the last answer cannot be separated from its prompt."
        raise InvalidInput(message, "TemplateUnsupported")
    return prompt, answer


def find_content(conversation: Conversation, prompt: str) -> int | None:
    """The place of the last answer's content, if the text before it is the same for another content."""
    before, last = conversation.messages[:-1], conversation.messages[-1]
    probe = conversation.split_at_mark([*before, conversation.marked_answer])
    has_output = any(last.get(name) for name in ("content", "tool_calls", *REASONING))
    if not probe or conversation.mark in probe[1] or not has_output:
        return None
    if not prompt.startswith(conversation.render(before)):
        return None
    return len(probe[0]) if conversation.text.startswith(probe[0]) else None
