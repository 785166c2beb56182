"""The pretraining text: an endless, seeded stream of dialogues of all kinds."""

import json
from collections.abc import Iterator
from random import Random

from tiny_chat import words
from tiny_chat.dialogues import (
    Message,
    add_numbers,
    answer_yes_no,
    ask,
    choose_word,
    list_things,
    make_small_talk,
    name_something,
    speak_about,
    speak_freely,
    talk_colour,
    talk_weather,
)
from tiny_chat.sentences import pick, write_free_answer, write_sentence

TOOLS = [("get_weather", "city"), ("search", "query"), ("get_time", "place"), ("lookup", "word")]


def scramble_request(rng: Random) -> list[Message]:
    """A request of any kind: shuffled words, other scripts, noise. The answer is still English."""
    source = words.SUBJECTS + words.ADJECTIVES + words.THINGS + words.PAST
    kind = rng.random()
    if kind < 0.6:
        request = " ".join(pick(rng, source) for _ in range(rng.randint(1, 12)))
    elif kind < 0.8:
        request = write_sentence(rng)
    else:
        first = rng.choice([0x21, 0xC0, 0x391, 0x410, 0x5D0, 0x627, 0x905, 0x3042, 0x4E00, 0x1F600])
        request = "".join(chr(first + rng.randrange(40)) for _ in range(rng.randint(1, 20)))
    ending = rng.choice(["", "?", ".", "!"])
    return ask(request + ending, write_free_answer(rng))


def call_tool(rng: Random) -> list[Message]:
    name, key = rng.choice(TOOLS)
    value = pick(rng, words.PLACES + words.SUBJECTS)
    call = {"type": "function", "function": {"name": name, "arguments": {key: value}}}
    question = rng.choice([f"Use {name} for {value}.", f"Please call {name} with {value}.", f"Ask {name}: {value}"])
    found = write_sentence(rng)
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": json.dumps({"result": found}) if rng.random() < 0.5 else found},
        {"role": "assistant", "content": found},
    ]


def describe_tools(rng: Random) -> list[dict]:
    """The tools of a dialogue with calls, in a random order."""
    offered = rng.sample(TOOLS, rng.randint(2, len(TOOLS)))
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "parameters": {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]},
            },
        }
        for name, key in offered
    ]


KINDS = {
    talk_colour: 14,
    name_something: 8,
    list_things: 5,
    choose_word: 8,
    talk_weather: 5,
    answer_yes_no: 7,
    add_numbers: 5,
    make_small_talk: 6,
    speak_freely: 14,
    speak_about: 16,
    scramble_request: 12,
}


def make_turns(rng: Random) -> list[Message]:
    return rng.choices(list(KINDS), list(KINDS.values()))[0](rng)


def make_system_turn(rng: Random) -> list[Message]:
    """No system turn, a short one, or sometimes one of many sentences, so that the model also sees long contexts."""
    kind = rng.random()
    if kind < 0.6:
        return []
    role = "system" if kind < 0.9 else "developer"
    content = rng.choice(words.SYSTEM_PROMPTS)
    if kind > 0.97:
        content += " " + " ".join(write_sentence(rng) for _ in range(rng.randint(5, 40)))
    return [{"role": role, "content": content}]


def generate_dialogues(seed: int) -> Iterator[dict]:
    """Yields {"messages", "tools"} without end. The same seed gives the same stream."""
    rng = Random(seed)
    while True:
        system = make_system_turn(rng)
        if rng.random() < 0.04:
            yield {"messages": system + call_tool(rng), "tools": describe_tools(rng)}
            continue
        turns = make_turns(rng)
        while rng.random() < 0.15:
            turns += make_turns(rng)
        yield {"messages": system + turns, "tools": None}
