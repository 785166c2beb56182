"""Free English sentences from a small grammar, for requests without an exact answer."""

from collections.abc import Sequence
from random import Random

from tiny_chat import words


def pick(rng: Random, options: Sequence[str]) -> str:
    return words.spell(rng.choice(options))


def name_thing(rng: Random) -> str:
    """A noun of any kind, for a noun phrase."""
    return pick(rng, rng.choice([words.ANIMALS, words.FOODS, words.THINGS, words.PLACES, words.PEOPLE]))


def describe_thing(rng: Random) -> str:
    article = rng.choice(["the", "my", "our", "her", "his", "that", "one", "every"])
    adjective = f"{pick(rng, words.ADJECTIVES)} " if rng.random() < 0.6 else ""
    return f"{article} {adjective}{name_thing(rng)}"


def name_actor(rng: Random) -> str:
    if rng.random() < 0.3:
        return rng.choice(["I", "we", "they", "she", "he", "you"])
    if rng.random() < 0.3:
        return rng.choice(words.NAMES)
    kind = pick(rng, rng.choice([words.PEOPLE, words.ANIMALS]))
    return f"{rng.choice(['the', 'my', 'a certain', 'some'])} {pick(rng, words.ADJECTIVES)} {kind}"


def describe_event(rng: Random) -> str:
    ending = f" {pick(rng, words.ADVERBS)}" if rng.random() < 0.5 else ""
    location = f" in the {pick(rng, words.PLACES)}" if rng.random() < 0.4 else ""
    return f"{name_actor(rng)} {pick(rng, words.PAST)} {describe_thing(rng)}{location}{ending}"


def state_fact(rng: Random) -> str:
    subject = pick(rng, words.SUBJECTS)
    be = "is" if subject in ("time", "jazz", "music") or subject.startswith("the ") else "can be"
    return f"{subject} {be} {pick(rng, words.ADJECTIVES)} and {pick(rng, words.ADJECTIVES)}"


def state_taste(rng: Random) -> str:
    reason = rng.choice(["because of", "more than", "and also", "but not", "as much as", "next to"])
    return f"I {pick(rng, words.PRESENT)} {pick(rng, words.SUBJECTS)} {reason} {pick(rng, words.SUBJECTS)}"


def point_out(rng: Random) -> str:
    where = rng.choice(["near", "behind", "under", "above", "inside", "beyond", "beside"])
    return f"there is {rng.choice(['a', 'one', 'some'])} {name_thing(rng)} {where} {describe_thing(rng)}"


def compare_things(rng: Random) -> str:
    return f"{describe_thing(rng)} is as {pick(rng, words.ADJECTIVES)} as {describe_thing(rng)}"


CLAUSES = [describe_event, describe_event, state_fact, state_taste, point_out, compare_things]


def end_sentence(rng: Random, clause: str) -> str:
    return clause[0].upper() + clause[1:] + rng.choices([".", "!"], [9, 1])[0]


def write_sentence(rng: Random) -> str:
    clause = rng.choice(CLAUSES)(rng)
    if rng.random() < 0.15:
        clause += rng.choice([", and ", ", but ", " while ", " because "]) + rng.choice(CLAUSES)(rng)
    return end_sentence(rng, clause)


def write_about(rng: Random, subject: str) -> str:
    """A sentence that names the requested subject."""
    first, second = pick(rng, words.ADJECTIVES), pick(rng, words.ADJECTIVES)
    form = rng.choice(
        [
            f"{subject} made the {pick(rng, words.PEOPLE)} {first}",
            f"I {pick(rng, words.PRESENT)} {subject} {pick(rng, words.ADVERBS)}",
            f"{subject} reminds me of {describe_thing(rng)}",
            f"{rng.choice(words.NAMES)} {pick(rng, words.PAST)} {describe_thing(rng)} and thought of {subject}",
            f"with {subject} everything feels {first} and {second}",
            f"the {pick(rng, words.PLACES)} is full of {subject}",
        ]
    )
    return end_sentence(rng, form)


def write_free_answer(rng: Random) -> str:
    """One or two sentences about anything."""
    first = write_sentence(rng)
    return f"{first} {write_sentence(rng)}" if rng.random() < 0.25 else first
