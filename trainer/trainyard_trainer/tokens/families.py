"""The four families of chat templates for which ART knows the markers of questions and answers.

ART trains on everything between an answer marker and the next question marker. So text that no question marker opens,
such as a tool's result under Llama 3, belongs to the previous answer. It is the same here, so that both train alike.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    question: str
    answer: str


# A template belongs to the first family whose sign it contains, as in ART.
FAMILIES = {
    "<|im_start|>": Family("<|im_start|>user\n", "<|im_start|>assistant\n"),
    "<|start_header_id|>": Family(
        "<|start_header_id|>user<|end_header_id|>\n\n", "<|start_header_id|>assistant<|end_header_id|>\n\n"
    ),
    "<start_of_turn>": Family("<start_of_turn>user\n", "<start_of_turn>model\n"),
    "[INST]": Family("[INST]", "[/INST]"),
}


def find_family(template: str) -> Family | None:
    return next((family for sign, family in FAMILIES.items() if sign in template), None)


def widen_spans(spans: list[range], text: str, family: Family) -> list[range]:
    """Extends each turn to the next question. Turns inside of an extended one become part of it."""
    widened: list[range] = []
    for span in spans:
        if widened and span.start < widened[-1].stop:
            continue
        widened.append(widen_span(span, text, family))
    return widened


def widen_span(span: range, text: str, family: Family) -> range:
    if not text.endswith(family.answer, 0, span.start):
        return span  # the template only looks like one of the family
    stop = text.find(family.question, span.stop)
    return range(span.start, len(text) if stop < 0 else stop)
