import json

import pytest
import torch

from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS

USER = {"role": "user", "content": "Name a colour."}
# The maximum difference between a CPU in float32 and a GPU in bfloat16.
CLOSE = 0.05


def load_losses(reports):
    return [step["loss"] for step in reports.steps]


@pytest.fixture(autouse=True)
def _on_gpu(base):
    assert base.device.type == "cuda"
    assert base.model.dtype == torch.bfloat16
    assert base.packs


def test_an_rl_job_from_payload_to_checkpoint(jobs, make_choice):
    answers = [("Red.", 1.0), ("Blue.", 0.0), ("Teal.", 0.5)]
    trajectories = [{"messages_and_choices": [USER, make_choice(text)], "reward": r} for text, r in answers]
    content = json.dumps({"trajectory_groups": [{"trajectories": trajectories}]}).encode()
    first = jobs.run("RL", content, {"learning_rate": 1e-3})
    second = jobs.run("RL", content, {"learning_rate": 1e-3}, start=first.checkpoint)
    for reports in (first, second):
        assert [kind for _, kind, _ in reports] == ["training_started", "gradient_step"]
        assert all(value == value for value in reports.steps[0].values())
        assert reports.steps[0]["memory_bytes"] > 0
    assert jobs.count_optimizer_steps(second) == {2.0}


def test_an_sft_job_teaches_its_answers(jobs, load_model, tokenizer):
    messages = [USER, {"role": "assistant", "content": "Teal."}]
    content = "\n".join([json.dumps({"messages": messages})] * 8).encode()
    reports = jobs.run("SFT", content, {"learning_rate": 5e-3, "batch_size": 1})
    losses = load_losses(reports)
    assert losses[-1] < 0.5 * losses[0]
    assert (jobs.locate(reports) / ADAPTER_WEIGHTS).exists()
    # transformers and PEFT alone compute the next step's loss, on a CPU in float32.
    again = load_losses(jobs.run("SFT", content, {"learning_rate": 5e-3, "batch_size": 8}, start=reports.checkpoint))
    model = load_model(jobs.locate(reports)).float().cpu()
    prompt = tokenizer.apply_chat_template(messages[:1], add_generation_prompt=True, return_dict=False)
    ids = tokenizer.apply_chat_template(messages, return_dict=False)
    with torch.no_grad():
        logprobs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
    wanted = -sum(logprobs[index - 1, ids[index]].item() for index in range(len(prompt), len(ids)))
    assert again[0] == pytest.approx(wanted / (len(ids) - len(prompt)), abs=CLOSE)
