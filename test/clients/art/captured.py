"""Trajectories that ART's newest release captures: whole conversations without a Choice in a list. ART's own code says how
many sampled places each has.

Takes the folder for ART's files. Prints the tokens that ART expects and those that were trained, as a JSON object in its
last line.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable

import art
from art.trajectories import TokenFlag, first_occurrence_masks
from openai import AsyncOpenAI
from service import BASE_MODEL, KEY, QUESTION, URL, count_trained, open_backend, register

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
FORCED = {"type": "function", "function": {"name": "get_weather"}}


class Conversation:
    """The calls of a rollout. Nothing is kept of them but what ART captures."""

    def __init__(self, model: art.TrainableModel) -> None:
        self.model = model.get_inference_name()
        self.client = model.openai_client()
        # A client that nobody has prepared for training.
        self.plain = AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY)

    async def ask(self, messages: list, *, client: AsyncOpenAI | None = None, **more: object) -> dict:
        settings = {"model": self.model, "max_completion_tokens": 12, "temperature": 1, **more}
        reply = await (client or self.client).chat.completions.create(messages=messages, **settings)
        return reply.choices[0].message.model_dump(exclude_none=True)

    async def stream(self, messages: list, **more: object) -> str:
        settings = {"model": self.model, "max_completion_tokens": 12, "temperature": 1, **more}
        text = ""
        async for chunk in await self.client.chat.completions.create(messages=messages, stream=True, **settings):
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
        return text


def then(messages: list, answer: dict | str, question: str = "And a horse?") -> list:
    message = {"role": "assistant", "content": answer} if isinstance(answer, str) else answer
    return [*messages, message, {"role": "user", "content": question}]


async def single(talk: Conversation) -> None:
    await talk.ask(QUESTION)


async def two_turns(talk: Conversation) -> None:
    await talk.ask(then(QUESTION, await talk.ask(QUESTION)))


async def streamed(talk: Conversation) -> None:
    await talk.stream(then(QUESTION, await talk.stream(QUESTION)))


async def several(talk: Conversation) -> None:
    await talk.ask(QUESTION, n=2)


async def tool(talk: Conversation) -> None:
    tools = {"tools": [TOOL], "max_completion_tokens": 64}
    answer = await talk.ask(QUESTION, tool_choice=FORCED, **tools)
    result = {"role": "tool", "tool_call_id": answer["tool_calls"][0]["id"], "content": "It is sunny."}
    await talk.ask([*QUESTION, answer, result], **tools)


async def edited(talk: Conversation) -> None:
    await talk.ask(QUESTION)
    await talk.ask(then(QUESTION, "It is blue."))


async def unrelated(talk: Conversation) -> None:
    await talk.ask(QUESTION)
    await talk.ask([{"role": "user", "content": "What did you see today?"}])


async def repeated(talk: Conversation) -> None:
    for _ in range(2):
        await talk.ask(QUESTION, temperature=0)


async def other_model(talk: Conversation) -> None:
    answer = await talk.ask(QUESTION)
    await talk.ask(then(QUESTION, answer, "Is that right?"), model=BASE_MODEL)


async def older_step(talk: Conversation) -> None:
    await talk.ask(QUESTION, model=f"{talk.model}:step0")


async def plain_client(talk: Conversation) -> None:
    await talk.ask(QUESTION, client=talk.plain)


async def completions(talk: Conversation) -> None:
    await talk.plain.completions.create(model=talk.model, prompt="The sea is", max_tokens=12, temperature=1)


async def responses(talk: Conversation) -> None:
    await talk.plain.responses.create(model=talk.model, input="Tell me about the sea.", max_output_tokens=12)


async def without_ids(talk: Conversation) -> None:
    await talk.ask(QUESTION, client=talk.plain, logprobs=False)


CASES = [single, two_turns, streamed, several, tool, edited, unrelated, repeated, other_model, plain_client]
CASES += [completions, responses]
Rollout = Callable[[Conversation], Awaitable[None]]


async def capture(model: art.TrainableModel, rollout: Rollout) -> art.TrajectoryGroup:
    """Two trajectories with different rewards, so that both train."""
    trajectories = []
    for reward in (0.0, 1.0):
        with art.Trajectory(reward=reward) as trajectory:
            await rollout(Conversation(model))
        trajectories.append(trajectory)
    return art.TrajectoryGroup(trajectories)


def count_places(model: art.TrainableModel, group: art.TrajectoryGroup) -> int:
    """The distinct sampled places of each trajectory, as ART counts them."""
    name = model.get_inference_name()
    total = 0
    for trajectory in group.trajectories:
        histories = trajectory.tokenize(multi_history=True, model=name).histories
        total += sum(sum(mask) for mask in first_occurrence_masks(histories, where=TokenFlag.SAMPLED))
    return total


async def main() -> None:
    backend = open_backend()
    model = await register(backend, "captured")
    seen = {}
    for rollout in CASES:
        group = await capture(model, rollout)
        result = await backend.train(model, [group], learning_rate=0.0)
        seen[rollout.__name__] = [count_places(model, group), count_trained(result.metrics)]
    try:
        await backend.train(model, [await capture(model, without_ids)], learning_rate=0.0)
    except RuntimeError as error:
        seen["without_ids"] = str(error)
    # The model of the exchange is `...:step0`, which is this model, too.
    result = await backend.train(model, [await capture(model, older_step)], learning_rate=0.0)
    seen["older_step"] = count_trained(result.metrics)
    print(json.dumps(seen))
    await backend.close()


asyncio.run(main())
