"""The default chat client of ART's newest release asks for ids, and compares them with the usage. Leases name a step.

Takes the folder for ART's files. Prints what it saw as a JSON object in its last line.
"""

import asyncio
import json

import art
from service import QUESTION, open_backend, register, sample

TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
FORCED = {"type": "function", "function": {"name": "get_weather"}}


def agrees(reply: object) -> bool:
    """Ids, log-probabilities and the usage are as many, and the prompt has ids, too."""
    counts = [[len(choice.token_ids), len(choice.logprobs.content)] for choice in reply.choices]
    pairs = all(ids == logprobs for ids, logprobs in counts)
    sampled = sum(ids for ids, _ in counts) == reply.usage.completion_tokens
    return pairs and sampled and len(reply.prompt_token_ids) == reply.usage.prompt_tokens


async def stream(model: art.TrainableModel, settings: dict) -> bool:
    """Whether the ids of the chunks are as many as the usage says, and those of the prompt come first."""
    ids, prompts, usage = 0, [], None
    options = {"stream": True, "stream_options": {"include_usage": True}}
    async for chunk in await model.openai_client().chat.completions.create(**settings, **options):
        prompts.append(getattr(chunk, "prompt_token_ids", None))
        ids += sum(len(getattr(choice, "token_ids", None) or []) for choice in chunk.choices)
        usage = chunk.usage or usage
    return ids == usage.completion_tokens and len(prompts[0]) == usage.prompt_tokens


async def main() -> None:
    backend = open_backend()
    model = await register(backend, "chats")
    client = model.openai_client()
    settings = {"model": model.get_inference_name(), "messages": QUESTION, "max_completion_tokens": 12}
    tool = {"tools": [TOOL], "tool_choice": FORCED, "max_completion_tokens": 64}
    variants = {"plain": {}, "several": {"n": 3}, "one_token": {"max_completion_tokens": 1}, "tool": tool}
    seen = {
        name: agrees(await client.chat.completions.create(**{**settings, **more})) for name, more in variants.items()
    }
    seen["streamed"] = await stream(model, settings)
    seen["several_streamed"] = await stream(model, {**settings, "n": 2})
    result = await backend.train(model, [art.TrajectoryGroup(await sample(model))])
    async with backend.adapter_lease(model, 0):
        leased = model.get_inference_name()
        old = await client.chat.completions.create(**{**settings, "model": leased})
    seen["leased"] = [leased.endswith(":step0"), old.model == leased, agrees(old)]
    async with backend.exact_adapter_lease(model, result.step):
        seen["exact"] = model.get_inference_name().endswith(f":step{result.step}")
    print(json.dumps(seen))
    await backend.close()


asyncio.run(main())
