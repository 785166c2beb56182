import json

from testing.styled_templates import MODEL


def test_a_seed_gives_the_same_text_when_the_prompt_is_computed_in_parts(start_engine):
    texts = [sample(start_engine, tokens) for tokens in ("512", "64")]
    assert texts[0] == texts[1]


def sample(start_engine, tokens_of_a_step: str) -> list[str]:
    engine = start_engine(str(MODEL), "--max-num-batched-tokens", tokens_of_a_step, TRAINYARD_MAX_MODEL_LEN="512")
    engine.wait_until_ready()
    body = {
        "model": "tiny",
        "messages": [{"role": "user", "content": "one two three " * 60}],
        "max_tokens": 12,
        "ignore_eos": True,
        "n": 3,
        "seed": 5,
    }
    return [
        choice["message"]["content"]
        for choice in json.loads(engine.send("POST", "/v1/chat/completions", body))["choices"]
    ]
