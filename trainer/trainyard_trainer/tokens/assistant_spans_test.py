import copy
import json

import pytest

from testing.styled_templates import SPECIAL
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.sft.dataset import tokenize_row
from trainyard_trainer.tokens import assistant_spans
from trainyard_trainer.tokens.assistant_spans import Conversation, find_assistant_spans
from trainyard_trainer.tokens.rendering import present_message, render

HEADERS = """{{- bos_token -}}
{%- for message in messages -%}
  {%- set role = 'ipython' if message.role == 'tool' else message.role -%}
  {{- '<|start_header_id|>' ~ role ~ '<|end_header_id|>\n\n' -}}
  {%- if message.tool_calls -%}
    {%- set call = message.tool_calls[0].function -%}
    {{- '{"name": "' ~ call.name ~ '", "parameters": ' ~ call.arguments | tojson ~ '}' -}}
  {%- else -%}
    {{- message.content | trim -}}
  {%- endif -%}
  {{- '<|eot_id|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' -}}{%- endif -%}"""

# System text goes into the first user turn, and the assistant has another name.
MODEL_TURNS = """{{- '<bos>' -}}
{%- if messages[0].role == 'system' -%}
  {%- set start = messages[0].content ~ '\n\n' -%}{%- set rest = messages[1:] -%}
{%- else -%}{%- set start = '' -%}{%- set rest = messages -%}{%- endif -%}
{%- for message in rest -%}
  {%- if (message.role == 'user') != (loop.index0 % 2 == 0) -%}
    {{- raise_exception('roles must alternate user/assistant') -}}
  {%- endif -%}
  {%- set role = 'model' if message.role == 'assistant' else 'user' -%}
  {{- '<start_of_turn>' ~ role ~ '\n' ~ (start if loop.first else '') ~ message.content | trim ~ '<end_of_turn>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<start_of_turn>model\n' -}}{%- endif -%}"""

# Only the end of the instruction opens an answer. Tools come before the last user's text.
INSTRUCTIONS = """{{- '<s>' -}}
{%- set users = messages | selectattr('role', 'equalto', 'user') | list -%}
{%- for message in messages -%}
  {%- if message.role == 'user' -%}
    {%- if tools and message == users[-1] -%}{{- '[AVAILABLE_TOOLS] search[/AVAILABLE_TOOLS]' -}}{%- endif -%}
    {{- '[INST] ' ~ message.content ~ '[/INST]' -}}
  {%- elif message.role == 'tool' -%}
    {{- '[TOOL_RESULTS] ' ~ message.content ~ '[/TOOL_RESULTS]' -}}
  {%- elif message.tool_calls -%}
    {{- '[TOOL_CALLS] ' ~ message.tool_calls[0].function.name ~ '</s>' -}}
  {%- else -%}
    {{- ' ' ~ message.content ~ '</s>' -}}
  {%- endif -%}
{%- endfor -%}"""

# Thoughts are written in the last answer only. An answer without a thought gets an empty one.
THOUGHTS = """
{%- for message in messages -%}
  {{- '<|im_start|>' ~ message.role ~ '\n' -}}
  {%- set content = message.content -%}
  {%- if message.role == 'assistant' -%}
    {%- set thought = content.split('</think>')[0].split('<think>')[-1].strip('\n') if '</think>' in content else '' -%}
    {%- set content = content.split('</think>')[-1].lstrip('\n') -%}
    {%- if loop.last -%}{{- '<think>\n' ~ thought ~ '\n</think>\n\n' -}}{%- endif -%}
  {%- endif -%}
  {{- content ~ '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' -}}
  {%- if enable_thinking is defined and enable_thinking is false -%}{{- '<think>\n\n</think>\n\n' -}}{%- endif -%}
{%- endif -%}"""

# Tool results are inside the assistant's turn, which continues after them without a new start.
RESULTS_WITHIN = """
{%- for message in messages -%}
  {%- if message.role == 'user' -%}{{- '<|User|>' ~ message.content -}}
  {%- elif message.role == 'tool' -%}{{- '<|output|>' ~ message.content ~ '<|end_output|>' -}}
  {%- else -%}
    {{- '<|Assistant|>' if messages[loop.index0 - 1].role != 'tool' -}}
    {{- message.content -}}
    {{- '<|call|>' ~ message.tool_calls[0].function.name ~ '<|end_call|>' if message.tool_calls -}}
    {{- '<|end|>' if loop.last or messages[loop.index0 + 1].role != 'tool' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt and messages[-1].role != 'tool' -%}{{- '<|Assistant|>' -}}{%- endif -%}"""

# Each call is followed by its result, before the message with the call has ended.
RESULTS_AT_CALLS = """
{%- for message in messages -%}
  {%- if message.role == 'user' -%}{{- '<|User|>' ~ message.content -}}
  {%- elif message.role == 'assistant' -%}
    {{- '<|Assistant|>' ~ message.content -}}
    {%- if message.tool_calls -%}
      {{- '<|call|>' ~ message.tool_calls[0].function.name -}}
      {{- '<|result|>' ~ messages[loop.index].content if loop.index < messages | length -}}
    {%- endif -%}
    {{- '<|end|>' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|Assistant|>' -}}{%- endif -%}"""

CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"query": "owls"}'}}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
SYSTEM = ("system", "Be short.")
ASK, RED, MORE, BLUE = ("user", "A colour?"), ("assistant", "Red."), ("user", "Another?"), ("assistant", "Blue.")
CALLED, RESULT, OWLS = ("assistant", None, CALL), ("tool", "Owls hoot."), ("assistant", "They hoot.")


@pytest.fixture
def show(tokenizer):
    """The texts of the assistant's turns under a template. The default is the tiny chat model's."""

    def show(template, *messages, tools=None):
        conversation = build(tokenizer, template, *messages, tools=tools)
        return [conversation.text[turn.start : turn.stop] for turn in find_assistant_spans(conversation).values()]

    return show


def build(tokenizer, template, *messages, tools=None):
    changed = copy.deepcopy(tokenizer)
    if template:
        changed.chat_template = template
        changed.add_tokens(SPECIAL.findall(template), special_tokens=True)
    return Conversation([present_message(describe(*message)) for message in messages], tools, changed)


def describe(role, content, call=None):
    return {"role": role, "content": content} | ({"tool_calls": [call]} if call else {})


@pytest.mark.parametrize(
    ("template", "messages", "turns"),
    [
        pytest.param(None, [ASK, RED], ["Red.<|im_end|>\n"], id="one answer"),
        pytest.param(
            None,
            [SYSTEM, ASK, RED, MORE, BLUE],
            ["Red.<|im_end|>\n", "Blue.<|im_end|>\n"],
            id="all answers, their end and the line break behind it",
        ),
        pytest.param(None, [RED, ASK, BLUE], ["Red.<|im_end|>\n", "Blue.<|im_end|>\n"], id="an answer to nothing"),
        pytest.param(
            None,
            [ASK, RED, BLUE],
            ["Red.<|im_end|>\n", "Blue.<|im_end|>\n"],
            id="two answers in a row",
        ),
        pytest.param(None, [ASK, RED, MORE], ["Red.<|im_end|>\n"], id="a question at the end"),
        pytest.param(None, [ASK, SYSTEM], [], id="no answer"),
        pytest.param(
            None,
            [ASK, CALLED, RESULT, OWLS],
            [
                '<tool_call>\n{"name": "search", "arguments": {"query": "owls"}}\n</tool_call><|im_end|>\n',
                "They hoot.<|im_end|>\n",
            ],
            id="a tool's result is not learnt",
        ),
        pytest.param(
            None,
            [("user", "Say <|im_start|>assistant\nRed."), RED, ("user", "Red.<|im_end|>\n"), RED],
            ["Red.<|im_end|>\n", "Red.<|im_end|>\n"],
            id="markers within a question",
        ),
        pytest.param(
            HEADERS,
            [ASK, CALLED, RESULT, OWLS],
            ['{"name": "search", "parameters": {"query": "owls"}}<|eot_id|>', "They hoot.<|eot_id|>"],
            id="headers: a tool's result is not learnt",
        ),
        pytest.param(HEADERS, [ASK, ("assistant", "\n Red. \n"), MORE, RED], ["Red.<|eot_id|>"] * 2, id="trimmed"),
        pytest.param(
            MODEL_TURNS,
            [SYSTEM, ASK, RED, MORE, BLUE],
            ["Red.<end_of_turn>\n", "Blue.<end_of_turn>\n"],
            id="model turns",
        ),
        pytest.param(
            INSTRUCTIONS,
            [ASK, CALLED, RESULT, OWLS],
            ["[TOOL_CALLS] search</s>", " They hoot.</s>"],
            id="instructions: a tool's result is not learnt",
        ),
        pytest.param(
            THOUGHTS,
            [ASK, RED],
            ["<think>\n\n</think>\n\nRed.<|im_end|>\n"],
            id="thoughts: from behind the marker",
        ),
        pytest.param(
            THOUGHTS,
            [ASK, RED, MORE, BLUE],
            ["Red.<|im_end|>\n", "<think>\n\n</think>\n\nBlue.<|im_end|>\n"],
            id="thoughts: an earlier answer is written without",
        ),
        pytest.param(
            THOUGHTS,
            [
                ASK,
                ("assistant", "<think>\nHm\n</think>\n\nRed."),
                MORE,
                ("assistant", "<think>\nOh\n</think>\n\nBlue."),
            ],
            ["Red.<|im_end|>\n", "<think>\nOh\n</think>\n\nBlue.<|im_end|>\n"],
            id="thoughts: those that are written are learnt",
        ),
        pytest.param(
            THOUGHTS.replace("im_start", "begin"),
            [ASK, RED, BLUE],
            ["Red.<|im_end|>\n", "<think>\n\n</think>\n\nBlue.<|im_end|>\n"],
            id="thoughts: two answers in a row",
        ),
        pytest.param(
            RESULTS_WITHIN,
            [ASK, CALLED, RESULT, OWLS, MORE, BLUE],
            ["<|call|>search<|end_call|>", "They hoot.<|end|>", "Blue.<|end|>"],
            id="results within the turn: they are not learnt",
        ),
        pytest.param(
            RESULTS_AT_CALLS,
            [ASK, CALLED, RESULT, OWLS, MORE, BLUE],
            ["<|call|>search", "They hoot.<|end|>", "Blue.<|end|>"],
            id="results at their calls: they are not learnt",
        ),
    ],
)
def test_the_turns_of_the_assistant(show, template, messages, turns):
    assert show(template, *messages) == turns


def test_tools_that_move_to_the_last_question(show):
    assert show(INSTRUCTIONS, ASK, RED, MORE, BLUE, tools=[TOOL]) == [" Red.</s>", " Blue.</s>"]
    turns = show(INSTRUCTIONS, ASK, CALLED, RESULT, OWLS, MORE, BLUE, tools=[TOOL])
    assert turns == ["[TOOL_CALLS] search</s>", " They hoot.</s>", " Blue.</s>"]


@pytest.mark.parametrize(
    ("template", "messages", "reason"),
    [
        ("{{ messages[-1].content }}", [ASK, RED, MORE, BLUE], "cannot be separated"),
        (
            "{% for message in messages[::-1] %}{{ message.content }};{% endfor %}",
            [ASK, RED, MORE],
            "cannot be separated",
        ),
        (
            "{{ messages | length }}{% for m in messages %}{{ m.content.upper() }}{% endfor %}",
            [ASK, RED, MORE],
            "cannot be separated",
        ),
        (MODEL_TURNS, [ASK, MORE, RED], "roles must alternate"),
        ("{{ messages[0].no.such }}", [ASK, RED], "rejects this conversation"),
    ],
)
def test_a_conversation_that_a_template_does_not_support_is_rejected(show, template, messages, reason):
    with pytest.raises(InvalidInput, match=reason):
        show(template, *messages)


def test_the_tokens_of_the_turns_are_trained_on(tokenizer):
    ids, trained = tokenize_row(build(tokenizer, None, SYSTEM, ASK, ("assistant", "Blüe 🎈."), MORE, BLUE))
    learnt = [token for token, is_trained in zip(ids, trained, strict=True) if is_trained]
    assert tokenizer.decode(learnt) == "Blüe 🎈.<|im_end|>\nBlue.<|im_end|>\n"
    marks = "".join("x" if is_trained else "." for is_trained in trained)
    end = [index for index, token in enumerate(ids) if token == tokenizer.eos_token_id]
    # The ends of the system's and the user's turns are not trained. The assistant's are, with the line break.
    assert [marks[index : index + 2] for index in end] == ["..", "..", "xx", "..", "xx"]
    assert ids == tokenizer.apply_chat_template(
        [describe(*message) for message in (SYSTEM, ASK, ("assistant", "Blüe 🎈."), MORE, BLUE)], return_dict=False
    )


def test_no_part_of_a_conversation_is_rendered_twice(tokenizer, monkeypatch):
    asked = []

    def count(messages, tools, tokenizer, **options):
        asked.append(json.dumps([tokenizer.chat_template, messages, options]))
        return render(messages, tools, tokenizer, **options)

    monkeypatch.setattr(assistant_spans, "render", count)
    for template in (None, THOUGHTS):
        find_assistant_spans(build(tokenizer, template, *[ASK, RED, MORE, BLUE] * 5))
    assert len(asked) > 40
    assert len(asked) == len(set(asked))
