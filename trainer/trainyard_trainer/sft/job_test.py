import json
import math
import tracemalloc
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from testing.jobs import Jobs
from testing.tiny_models import make_base
from trainyard_trainer.compute.execution.executor import Executor
from trainyard_trainer.compute.model.optimizer import build_optimizer, step_optimizer
from trainyard_trainer.compute.scheduling.policy import Policy
from trainyard_trainer.compute.scheduling.scheduler import Scheduler
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.rl.recipe import RL
from trainyard_trainer.sft.recipe import SFT

NUMBERS = {
    "loss",
    "entropy",
    "learning_rate",
    "grad_norm",
    "num_trajectories",
    "num_tokens",
    "num_trainable_tokens",
    "num_dropped_trajectories",
    "tokens_per_second",
    "memory_bytes",
}
DIALOGUES = [("Name a colour.", "Teal."), ("Name a bird.", "An owl."), ("Name a day.", "Monday.")]


def write_data(dialogues):
    return "\n".join(json.dumps({"messages": build_messages(*dialogue)}) for dialogue in dialogues).encode()


def build_messages(question, answer):
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


@pytest.fixture
def train(jobs):
    def run(dialogues, start=None, max_length=4096, **config):
        return jobs.run("SFT", write_data(dialogues), config, start=start, max_length=max_length)

    return run


def tokenize(tokenizer, question, answer):
    """Returns (all ids, the number of the prompt's ids), from the template alone."""
    messages = build_messages(question, answer)
    prompt = tokenizer.apply_chat_template(messages[:1], add_generation_prompt=True, return_dict=False)
    return tokenizer.apply_chat_template(messages, return_dict=False), len(prompt)


def reckon_loss(model, tokenizer, dialogues):
    """Returns (summed cross-entropy, number of trained tokens), computed token by token."""
    total, count = 0.0, 0
    for dialogue in dialogues:
        ids, start = tokenize(tokenizer, *dialogue)
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
        for index in range(start, len(ids)):
            total -= logits[index - 1].log_softmax(-1)[ids[index]].item()
            count += 1
    return total, count


def answer(model, tokenizer, question):
    messages = build_messages(question, "")[:1]
    inputs = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=12, do_sample=False)
    return tokenizer.decode(output[0][inputs["input_ids"].shape[1] :], skip_special_tokens=True).strip()


def test_a_job_from_its_data_to_its_checkpoint(jobs, train, tokenizer, load_model):
    reports = train(DIALOGUES, learning_rate=[1e-3, 1e-4, 1e-5])
    assert [(seq, kind) for seq, kind, _ in reports] == [
        (0, "training_started"),
        (1, "gradient_step"),
        (2, "gradient_step"),
    ]
    assert reports[0][2]["num_sequences"] == 2
    assert [set(step) for step in reports.steps] == [NUMBERS, NUMBERS]
    assert all(math.isfinite(value) for step in reports.steps for value in step.values())
    first, second = reports.steps
    assert [first["num_trajectories"], second["num_trajectories"]] == [2, 1]
    assert [first["learning_rate"], second["learning_rate"]] == [1e-3, 1e-4]
    total, count = reckon_loss(load_model(), tokenizer, DIALOGUES[:2])
    assert first["loss"] == pytest.approx(total / count, rel=1e-4)
    assert first["num_trainable_tokens"] == count
    assert first["num_tokens"] == sum(len(tokenize(tokenizer, *dialogue)[0]) for dialogue in DIALOGUES[:2])
    assert reports.metrics == {name: (first[name] + second[name]) / 2 for name in NUMBERS}
    assert jobs.count_optimizer_steps(reports) == {2.0}


def test_the_gradient_is_clipped_at_one(train, jobs):
    reports = train(DIALOGUES[:2], learning_rate=0)
    assert reports.steps[0]["grad_norm"] > 1
    state = load_file(jobs.locate(reports) / "optimizer.safetensors")
    squares = sum((value / 0.1).square().sum().item() for name, value in state.items() if name.endswith(".exp_avg"))
    assert math.sqrt(squares) == pytest.approx(1.0, rel=1e-3)  # the first average is a tenth of the gradient


def test_learning_lowers_the_loss_and_changes_the_answer(train, jobs, tokenizer, load_model):
    question, wanted = DIALOGUES[0]
    assert answer(load_model(), tokenizer, question) != wanted
    losses, start = [], None
    for _ in range(3):
        reports = train(DIALOGUES * 5, start=start, batch_size=3, learning_rate=1e-2)
        losses += [step["loss"] for step in reports.steps]
        start = reports.checkpoint
    assert losses[-1] < losses[0] / 10
    assert answer(load_model(jobs.locate(reports)), tokenizer, question) == wanted


def test_the_same_data_gives_the_same_weights(train, jobs):
    first, second = train(DIALOGUES, learning_rate=1e-3), train(DIALOGUES, learning_rate=1e-3)
    for name, tensor in jobs.read_weights(first).items():
        assert torch.equal(tensor, jobs.read_weights(second)[name]), name


def test_rows_that_are_too_long_are_left_out_of_their_batch_and_counted(train, tokenizer):
    long = ("Name a colour.", "Red. " * 60)
    limit = max(len(tokenize(tokenizer, *dialogue)[0]) for dialogue in DIALOGUES)
    reports = train([long, long, DIALOGUES[0], long, DIALOGUES[1]], max_length=limit)
    shown = [(step["num_trajectories"], step["num_dropped_trajectories"]) for step in reports.steps]
    assert shown == [(1, 1), (1, 0)]
    assert [number for number, kind, _ in reports if kind == "gradient_step"] == [1, 2]


def test_a_batch_with_nothing_to_train_makes_no_step_and_takes_no_rate(train, tokenizer):
    long = ("Name a colour.", "Red. " * 60)
    limit = max(len(tokenize(tokenizer, *dialogue)[0]) for dialogue in DIALOGUES)
    given = [long, long, *DIALOGUES]
    reports = train(given, max_length=limit, learning_rate=[1e-3, 1e-4])
    assert reports[0][2]["num_sequences"] == 2
    shown = [(step["num_trajectories"], step["learning_rate"]) for step in reports.steps]
    assert shown == [(2, 1e-3), (1, 1e-4)]


def test_only_the_last_answers_are_trained(jobs, tokenizer):
    messages = [message for dialogue in DIALOGUES for message in build_messages(*dialogue)]
    rows = [messages[:2], messages[:6], messages[:4]]
    content = "\n".join(json.dumps({"messages": row}) for row in rows).encode()
    every, last = (jobs.run("SFT", content, {"assistant_turns": turns}) for turns in ("all", "last"))
    assert [step["num_tokens"] for step in last.steps] == [step["num_tokens"] for step in every.steps]
    ends = [len(tokenizer.encode(f"{text}<|im_end|>\n", add_special_tokens=False)) for _, text in DIALOGUES]
    assert [step["num_trainable_tokens"] for step in last.steps] == [ends[0] + ends[2], ends[1]]
    both = [2 * ends[0] + ends[1] + ends[2], ends[0] + ends[1]]
    assert [step["num_trainable_tokens"] for step in every.steps] == both


def test_a_line_without_a_last_answer_is_named(jobs):
    rows = [build_messages(*DIALOGUES[0]), build_messages(*DIALOGUES[0])[:1]]
    content = "\n".join(json.dumps({"messages": row}) for row in rows).encode()
    with pytest.raises(InvalidInput, match=r"^Line 2: The last message must be the assistant's"):
        jobs.run("SFT", content, {"assistant_turns": "last"})


def test_at_most_one_line_of_the_data_is_in_memory(jobs):
    line = json.dumps({"messages": build_messages(*DIALOGUES[0]), "x": "a" * 2**20})
    content = "\n".join([line] * 16).encode()
    tracemalloc.start()
    try:
        reports = jobs.run("SFT", content, {"batch_size": 8})
        assert tracemalloc.get_traced_memory()[1] < len(content) / 2
    finally:
        tracemalloc.stop()
    assert [step["num_trajectories"] for step in reports.steps] == [8, 8]


def test_layers_that_are_not_trained_are_reported(tmp_path, tokenizer):
    base = replace(make_base("Qwen3-MoE", vocab_size=len(tokenizer)), tokenizer=tokenizer)
    with Scheduler(Executor(base), Policy(4096)) as scheduler:
        jobs = Jobs(tmp_path, scheduler)
        first = jobs.run("SFT", write_data(DIALOGUES), {})
        second = jobs.run("SFT", write_data(DIALOGUES), {}, start=first.checkpoint)
    message = (
        "These layers of the base model are not trained (75% of the weights of its layers): experts.down_proj, "
        "experts.gate_up_proj, gate. The trained layers are k_proj, o_proj, q_proj, v_proj. lora.targetModules of the "
        "BaseModel can name others."
    )
    assert first.warnings == second.warnings == [("layers_not_trained", message)]


def test_a_job_without_a_batch_to_train_keeps_the_weights(train, jobs):
    before = train(DIALOGUES, learning_rate=1e-3)
    after = train(DIALOGUES, start=before.checkpoint, max_length=3)
    assert ([kind for _, kind, _ in after], after.metrics) == (["training_started"], {})
    for name, tensor in jobs.read_weights(before).items():
        assert torch.equal(tensor, jobs.read_weights(after)[name]), name
    assert jobs.count_optimizer_steps(after) == {2.0}


def test_the_optimizer_state_is_kept_within_a_method_and_reset_for_another(train, jobs, make_choice):
    asked = {"role": "user", "content": "Name a colour."}
    trajectories = [
        {"messages_and_choices": [asked, make_choice(text)], "reward": r} for text, r in (("Red.", 1), ("Blue.", 0))
    ]
    payload = json.dumps({"trajectory_groups": [{"trajectories": trajectories}]}).encode()
    first = train(DIALOGUES)
    second = train(DIALOGUES, start=first.checkpoint)
    third = jobs.run("RL", payload, {}, start=second.checkpoint)
    fourth = jobs.run("RL", payload, {}, start=third.checkpoint)
    fifth = train(DIALOGUES, start=fourth.checkpoint)
    states = [jobs.count_optimizer_steps(job) for job in (first, second, third, fourth, fifth)]
    assert states == [{2.0}, {4.0}, {1.0}, {2.0}, {2.0}]


def test_only_rl_decays_weights():
    weights = []
    for recipe in (RL, SFT):
        parameter = torch.nn.Parameter(torch.ones(1))
        parameter.grad = torch.zeros(1)
        step_optimizer(build_optimizer({"x": parameter}), {"x": parameter}, recipe, 0.5)
        weights.append(parameter.item())
    assert weights == pytest.approx([1 - 0.5 * 0.1, 1.0])


@pytest.mark.parametrize(
    ("config", "reason"),
    [({"learning_rate": [1e-3]}, "TooFewLearningRates"), ({"batch_size": 0}, "InvalidConfig")],
)
def test_a_wrong_setting_fails_before_anything_is_reported(train, config, reason):
    with pytest.raises(InvalidInput) as caught:
        train(DIALOGUES, **config)
    assert (caught.value.category, caught.value.reason) == ("User", reason)


def test_an_unknown_method_is_named(jobs):
    with pytest.raises(InvalidInput, match="does not know the method DPO; it trains RL and SFT"):
        jobs.run("DPO", b"{}", {})
