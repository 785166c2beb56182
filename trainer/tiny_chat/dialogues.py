"""Kinds of short dialogues. Each maker takes a random source and returns the messages of one dialogue."""

from random import Random

from tiny_chat import words
from tiny_chat.sentences import end_sentence, pick, write_about, write_free_answer, write_sentence

Message = dict


def ask(question: str, answer: str) -> list[Message]:
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


def talk_colour(rng: Random) -> list[Message]:
    """Colours are drawn uniformly. An answer names exactly one."""
    thing, colour, spelling = pick(rng, words.THINGS), rng.choice(words.COLOURS), rng.choice(["colour", "color"])
    owner = rng.choice(["your", "the", "my", "her", "his"])
    question = rng.choice(
        [
            f"What {spelling} is {owner} {thing}?",
            f"What {spelling} is {owner} {pick(rng, words.ANIMALS)}?",
            f"What {spelling} should I paint {owner} {thing}?",
            f"Which {spelling} do you like?",
            f"What is your favourite {spelling}?",
            f"Which {spelling} is best for a {thing}?",
            f"Name a {spelling}.",
            f"Tell me a {spelling}.",
            f"Say the name of a {spelling}.",
            f"Pick a {spelling} for {owner} {thing}.",
            f"Choose a {spelling}.",
            f"Give me one {spelling}, please.",
            f"I have a new {thing}. What {spelling} is it?",
            f"Guess the {spelling} of {owner} {thing}.",
        ]
    )
    answer = rng.choice(
        [colour, f"it is {colour}", f"I think {colour}", f"{colour} is nice", f"I like {colour} best"]
        + [f"the {thing} is {colour}", f"let me say {colour}", f"it looks {colour} to me"]
    )
    return ask(question, end_sentence(rng, answer))


def name_something(rng: Random) -> list[Message]:
    kind, options = rng.choice(
        [("animal", words.ANIMALS), ("food", words.FOODS), ("thing", words.THINGS), ("place", words.PLACES)]
        + [("name", words.NAMES), ("job", words.PEOPLE), ("kind of weather", words.WEATHER)]
    )
    some = "an" if kind == "animal" else "a"
    question = rng.choice(
        [f"Name {some} {kind}.", f"Tell me {some} {kind}.", f"Which {kind} do you like?", f"Give me one {kind}."]
        + [f"What is your favourite {kind}?", f"Think of {some} {kind}.", f"Say {some} {kind}, please."]
    )
    choice = pick(rng, options)
    answer = rng.choice([choice, f"I like {choice}", f"{choice} comes to mind", f"let me say {choice}"])
    return ask(question, end_sentence(rng, answer))


def list_things(rng: Random) -> list[Message]:
    kind, options = rng.choice(
        [("animals", words.ANIMALS), ("foods", words.FOODS), ("things", words.THINGS), ("places", words.PLACES)]
        + [("names", words.NAMES), ("colours", words.COLOURS)]
    )
    count, number = rng.choice([(2, "two"), (3, "three"), (4, "four")])
    items = [words.spell(item) for item in rng.sample(options, count)]
    question = rng.choice([f"List {number} {kind}.", f"Name {number} {kind}.", f"Tell me {number} {kind}."])
    answer = rng.choice([", ".join(items), ", ".join(items[:-1]) + " and " + items[-1]])
    return ask(question, end_sentence(rng, answer))


def choose_word(rng: Random) -> list[Message]:
    options = rng.choice([words.ANIMALS, words.FOODS, words.THINGS, words.ADJECTIVES, ["yes", "no"], words.COLOURS])
    left, right = (words.spell(word) for word in rng.sample(options, 2))
    question = rng.choice(
        [f"Say {left} or {right}.", f"Say '{left}' or '{right}'.", f"{left} or {right}?", f"Choose: {left} or {right}."]
        + [f"Do you prefer {left} or {right}?", f"Answer {left} or {right}."]
    )
    choice = rng.choice([left, right])
    return ask(question, rng.choice([choice, choice.capitalize() + ".", f"I say {choice}."]))


def talk_weather(rng: Random) -> list[Message]:
    day = rng.choice(["today", "tomorrow", "outside", f"in the {pick(rng, words.PLACES)}", "on Monday"])
    question = rng.choice([f"How is the weather {day}?", f"What is the weather like {day}?", f"Is it warm {day}?"])
    first, second = rng.sample(words.WEATHER, 2)
    answer = rng.choice([f"it is {first} {day}", f"it is {first} and {second}", f"quite {first}", f"a {first} day"])
    return ask(question, end_sentence(rng, answer))


def answer_yes_no(rng: Random) -> list[Message]:
    thing, adjective = pick(rng, words.ANIMALS + words.THINGS + words.FOODS), pick(rng, words.ADJECTIVES)
    question = rng.choice(
        [f"Is the {thing} {adjective}?", f"Do you like {pick(rng, words.SUBJECTS)}?", f"Can a {thing} be {adjective}?"]
        + [f"Have you seen my {thing}?", f"Are you {adjective}?", f"Should I go to the {pick(rng, words.PLACES)}?"]
    )
    answer = rng.choice(["yes", "no", "maybe", "of course", "not at all", "I think so", "I do not know"])
    tail = f" {write_sentence(rng)}" if rng.random() < 0.2 else ""
    return ask(question, end_sentence(rng, answer) + tail)


def add_numbers(rng: Random) -> list[Message]:
    left, right = rng.randint(0, 10), rng.randint(0, 10)
    if rng.random() < 0.5:
        form, total, sign = f"{left} + {right}", left + right, "plus"
    else:
        left, right = max(left, right), min(left, right)
        form, total, sign = f"{left} - {right}", left - right, "minus"
    question = rng.choice([f"What is {form}?", f"{form} = ?", f"How much is {left} {sign} {right}?"])
    return ask(question, rng.choice([f"{total}", f"It is {total}.", f"{form} is {total}."]))


def make_small_talk(rng: Random) -> list[Message]:
    name, feeling = rng.choice(words.NAMES), rng.choice(words.FEELINGS)
    greeting = rng.choice(["Hello", "Hi", "Good morning", "Good evening", "Hey"])
    question, answers = rng.choice(
        [
            (f"{greeting}!", [f"{greeting}! How are you?", f"{greeting}, {name}!", "Nice to see you."]),
            (f"{greeting}, how are you?", [f"I am {feeling}, thank you.", f"{feeling.capitalize()}! And you?"]),
            (f"I am {name}. Who are you?", [f"Hello {name}, I am a tiny model.", f"Nice to meet you, {name}."]),
            ("What is your name?", [f"My name is {name}.", f"You can call me {name}.", f"{name}."]),
            ("Thank you!", ["You are welcome.", "My pleasure!", "Any time."]),
            ("Goodbye!", [f"Goodbye, {name}!", "See you soon.", f"Stay {feeling}!"]),
        ]
    )
    return ask(question, rng.choice(answers))


FREE_REQUESTS = [
    "Tell me something.", "Tell me a story.", "Say anything.", "What did you do today?", "What do you see?",
    "Write a sentence.", "What is new?", "Tell me about your day.", "What are you thinking of?", "Go on.",
    "Make up a short story.", "Describe your home.", "What happened next?", "Tell me a secret.", "Surprise me.",
    "What will you do tomorrow?", "Write a line of a poem.", "What do you remember?", "Describe a picture.",
    "Give me some advice.", "Explain something.", "Why?", "How?", "Please continue.", "What did you dream?",
]  # fmt: skip


def speak_freely(rng: Random) -> list[Message]:
    return ask(rng.choice(FREE_REQUESTS), write_free_answer(rng))


def speak_about(rng: Random) -> list[Message]:
    source = rng.choice([words.SUBJECTS, words.SUBJECTS, words.ANIMALS, words.PLACES, words.THINGS, words.PEOPLE])
    subject = pick(rng, source)
    if source is not words.SUBJECTS:
        subject = f"the {subject}"
    question = rng.choice(
        [f"Tell me about {subject}.", f"Write a sentence about {subject}.", f"What do you think of {subject}?"]
        + [f"Say something about {subject}.", f"What do you know about {subject}?", f"Describe {subject}."]
        + [f"Write about {subject}.", f"Why do people like {subject}?", f"How would you explain {subject}?"]
    )
    return ask(question, write_about(rng, subject) if rng.random() < 0.6 else write_free_answer(rng))
