import json
import math

import pytest
import torch

from testing.histories import tokenize
from trainyard_artifacts.addresses import ArtifactError
from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS, OPTIMIZER_STATE, fetch_checkpoint
from trainyard_artifacts.store import FolderStore
from trainyard_trainer.compute.model.adapter_files import read_adapter, read_shape
from trainyard_trainer.compute.model.optimizer import require_finite
from trainyard_trainer.compute.rows.example import make_example
from trainyard_trainer.failures import InvalidInput

USER = {"role": "user", "content": "Name a colour."}

# The members of a client's request that training does not use.
REQUEST = {
    "model_id": "8c3f0f3e-6a51-4a51-9d3c-0b1a7f1f0c11",
    "experimental_config": {"learning_rate": 9.0, "kimi_k2_tau": None},
    "from_the_future": {"trajectory_groups": 1},
}


@pytest.fixture
def train(jobs, make_choice):
    """Trains on answers with their rewards and returns the reports."""

    def run(answers, start=None, digest=None, reference=None, **config):
        trajectories = [{"messages_and_choices": [USER, make_choice(text)], "reward": r} for text, r in answers]
        content = json.dumps({"trajectory_groups": [{"trajectories": trajectories}]}).encode()
        return jobs.run(
            "RL",
            content,
            {"learning_rate": 1e-3, "epsilon": None} | config,
            start=start,
            digest=digest,
            reference=reference,
        )

    return run


@pytest.fixture
def measure(scheduler):
    """The summed log-probability of a sampled answer under a checkpoint, or under the base model."""
    executor = scheduler.executor

    def score(checkpoint, choice):
        (row,) = tokenize([USER, choice], executor.base.tokenizer)
        example = make_example(row.ids, row.trained, 0)
        slot = checkpoint and executor.open(read_shape(checkpoint), read_adapter(checkpoint, "RL"))
        (logprobs,) = executor.score(slot, [[example]], lambda: None)
        if slot:
            executor.close(slot)
        return logprobs.sum()

    return lambda *args: scheduler.call(lambda: score(*args))


def test_a_job_from_payload_to_checkpoint(jobs, train):
    reports = train([("Red.", 1.0), ("Blue.", 0.0), ("Teal.", 0.5)])
    assert [(seq, kind) for seq, kind, _ in reports] == [(0, "training_started"), (1, "gradient_step")]
    step = reports[1][2]
    assert reports[0][2]["num_sequences"] == 1
    assert all(isinstance(value, int | float) for value in step.values())
    shown = ("reward", "num_groups_submitted", "num_groups_trainable", "num_trajectories", "learning_rate")
    assert [step[name] for name in shown] == [0.5, 1, 1, 3, 1e-3]
    assert reports.metrics == step
    folder = jobs.locate(reports)
    names = ["adapter_config.json", "adapter_model.safetensors", "manifest.json", "optimizer.safetensors"]
    assert sorted(path.name for path in folder.iterdir()) == names
    uri, digest = reports.checkpoint.uri, reports.checkpoint.digest
    assert fetch_checkpoint(FolderStore(jobs.root), uri, digest, [OPTIMIZER_STATE]) == folder
    config = json.loads((folder / "adapter_config.json").read_text())
    assert (config["base_model_name_or_path"], config["r"], config["lora_alpha"]) == ("trainyard/tiny-chat", 8, 16)
    assert [path.name for path in (jobs.root / "checkpoints").iterdir()] == [folder.name]


def test_a_retry_repeats_the_same_events_and_weights(jobs, train):
    answers = [("Red.", 1.0), ("Blue.", 0.0)]
    first, second = train(answers), train(answers)
    for one, other in zip(first, second, strict=True):
        assert one[:2] == other[:2]
        assert without_speed(one[2]) == without_speed(other[2])
    for name, tensor in jobs.read_weights(first).items():
        assert torch.equal(tensor, jobs.read_weights(second)[name]), name


def without_speed(data):
    return {name: value for name, value in data.items() if name not in ("tokens_per_second", "memory_bytes")}


def test_a_positive_advantage_raises_and_a_negative_one_lowers(jobs, train, measure, make_choice):
    reports = train([("Red.", 1.0), ("Blue.", 0.0)])
    folder = jobs.locate(reports)
    assert measure(folder, make_choice("Red.")) > measure(None, make_choice("Red."))
    assert measure(folder, make_choice("Blue.")) < measure(None, make_choice("Blue."))


def test_a_negative_advantage_alone_lowers(jobs, train, measure, make_choice):
    # The balance removes the positive advantages.
    folder = jobs.locate(train([("Red.", 1.0), ("Blue.", 0.0)], advantage_balance=-1.0))
    assert measure(folder, make_choice("Blue.")) < measure(None, make_choice("Blue."))


def test_equal_rewards_leave_the_adapter_bit_equal(jobs, train):
    before = train([("Red.", 1.0), ("Blue.", 0.0)])
    after = train([("Red.", 0.3), ("Blue.", 0.3)], start=before.checkpoint)
    assert [kind for _, kind, _ in after] == ["training_started"]
    assert after[0][2]["num_sequences"] == 0
    assert after.metrics["num_groups_trainable"] == 0
    assert after.metrics["num_trainable_tokens"] == 0
    one, other = jobs.locate(before), jobs.locate(after)
    for name in ("adapter_model.safetensors", "adapter_config.json", "optimizer.safetensors"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_equal_rewards_on_a_new_model_give_the_untrained_adapter(jobs, train, measure, make_choice):
    reports = train([("Red.", 0.3), ("Blue.", 0.3)])
    weights = jobs.read_weights(reports)
    assert all(not tensor.any() for name, tensor in weights.items() if "lora_B" in name)
    choice = make_choice("Red.")
    assert measure(jobs.locate(reports), choice) == measure(None, choice)


def test_the_next_job_continues_with_the_optimizer_state_of_the_last(jobs, train):
    first = train([("Red.", 1.0), ("Blue.", 0.0)])
    second = train([("Red.", 1.0), ("Blue.", 0.0)], start=first.checkpoint)
    assert [jobs.count_optimizer_steps(job) for job in (first, second)] == [{1.0}, {2.0}]


def test_precalculated_logprobs_give_a_ratio_of_one(train):
    # The choices say a log-probability of -0.5 each. With the trainer's own, every ratio is 1.
    own = train([("Red.", 1.0), ("Blue.", 0.0)], precalculate_logprobs=True, ppo=True)
    assert own[1][2]["loss"] == pytest.approx(0.0, abs=1e-4)  # the sum of advantages x weights
    assert own[1][2]["kl_div"] == 0.0


def test_twin_settings_have_one_effect(jobs, train):
    answers = [("Red.", 1.0), ("Blue.", 0.0), ("Dark teal.", 0.25)]
    ppo, also, cispo = train(answers, ppo=True), train(answers, loss_fn="ppo"), train(answers, loss_fn="cispo")
    assert ppo.metrics["loss"] == also.metrics["loss"] != cispo.metrics["loss"]
    assert cispo.metrics["loss"] == train(answers).metrics["loss"]
    with pytest.raises(InvalidInput, match="loss_fn is cispo, and ppo is true"):
        train(answers, loss_fn="cispo", ppo=True)


def test_either_of_two_settings_turns_the_scaling_of_advantages_off(jobs, make_choice):
    """It shows with two groups of different spreads, because advantages are normalized over the job."""

    def compute_loss(**config):
        rewards = [[("Red.", 1.0), ("Blue.", 0.0)], [("Teal.", 0.1), ("Dark pink.", 0.0)]]
        groups = [
            {"trajectories": [{"messages_and_choices": [USER, make_choice(text)], "reward": r} for text, r in group]}
            for group in rewards
        ]
        return jobs.run("RL", json.dumps({"trajectory_groups": groups}).encode(), config).metrics["loss"]

    plain = compute_loss()
    off = compute_loss(normalize_advantages=False, scale_rewards=True)
    assert off == compute_loss(scale_rewards=False) == compute_loss(normalize_advantages=False, scale_rewards=False)
    assert off != pytest.approx(plain, rel=1e-3)


def test_the_number_of_trajectories_raises_the_rate_and_not_the_reported_one(jobs, train):
    answers = [("Red.", 1.0), ("Blue.", 0.0), ("Teal.", 0.5), ("Pink.", 0.75)]
    powered = train(answers, learning_rate=1e-3, num_trajectories_learning_rate_multiplier_power=0.5)
    plain = train(answers, learning_rate=2e-3)
    assert powered.steps[0]["learning_rate"] == 1e-3
    powered_weights, plain_weights = jobs.read_weights(powered), jobs.read_weights(plain)
    assert all(torch.equal(powered_weights[name], plain_weights[name]) for name in plain_weights)


def test_answers_longer_than_a_packed_sequence_are_dropped(train):
    reports = train([("Red.", 1.0), ("Blue. " * 20, 0.0), ("Teal.", 0.0)], packed_sequence_length=40)
    assert reports.metrics["num_dropped_trajectories"] == 1
    assert [code for code, _ in reports.warnings if code == "too_long"] == ["too_long"]
    nothing = train([("Red. " * 20, 1.0), ("Blue. " * 20, 0.0)], packed_sequence_length=40)
    assert nothing.steps == []


def test_a_penalty_against_the_step_that_training_begins_with_is_zero(train):
    first = train([("Red.", 1.0), ("Blue.", 0.0)], learning_rate=0.01)
    answers = [("Red.", 1.0), ("Teal.", 0.0)]
    plain = train(answers, start=first.checkpoint)
    current = {"kl_penalty_coef": 0.5, "kl_penalty_source": "current_learner"}
    held = train(answers, start=first.checkpoint, reference=first.checkpoint, **current)
    assert held.metrics["kl_policy_ref"] == pytest.approx(0.0, abs=1e-6)
    assert held.metrics["loss"] == pytest.approx(plain.metrics["loss"], rel=1e-5)
    assert train(answers, start=first.checkpoint, **current).metrics["kl_policy_ref"] > 1e-4


def test_a_payload_with_another_digest_is_rejected(train):
    with pytest.raises(InvalidInput, match="digest"):
        train([("Red.", 1.0)], digest="0" * 64)


def test_a_damaged_checkpoint_is_not_trained_on(jobs, train):
    before = train([("Red.", 1.0), ("Blue.", 0.0)])
    (jobs.locate(before) / ADAPTER_WEIGHTS).write_bytes(b"something else")
    with pytest.raises(ArtifactError, match="damaged"):
        train([("Red.", 1.0), ("Blue.", 0.0)], start=before.checkpoint)


def test_a_diverging_loss_is_an_error_of_the_user(jobs, make_choice):
    answers = [(make_choice("Red."), 1.0), (make_choice("Blue.", logprob=-1e37), 0.0)]
    trajectories = [{"messages_and_choices": [USER, choice], "reward": reward} for choice, reward in answers]
    content = json.dumps({"trajectory_groups": [{"trajectories": trajectories}]}).encode()
    with pytest.raises(InvalidInput, match="loss is not finite"):
        jobs.run("RL", content, {"kimi_k2_tau": 1_000_000})


@pytest.mark.parametrize("logprob", [-100.0, -9999.0, -1e30, 1e30])
def test_a_token_with_probability_zero_in_its_sampler_keeps_all_numbers_finite(jobs, make_choice, logprob):
    unlikely = make_choice("Blue.")
    unlikely["logprobs"]["content"][0]["logprob"] = logprob
    trajectories = [
        {"messages_and_choices": [USER, choice], "reward": reward}
        for choice, reward in ((make_choice("Red."), 1.0), (unlikely, 0.0))
    ]
    content = json.dumps({"trajectory_groups": [{"trajectories": trajectories}]}).encode()
    for ppo in (False, True):
        reports = jobs.run("RL", content, {"ppo": ppo})
        assert 0 < reports.metrics["kl_div"] < math.exp(20)


def test_the_whole_request_of_a_client_trains(jobs, make_choice):
    answered = [USER, make_choice("Red."), USER, {"role": "assistant", "content": "Green."}, USER, make_choice("Teal.")]
    trajectory = {
        "messages_and_choices": answered,
        "tools": None,
        "additional_histories": [{"messages_and_choices": [USER, make_choice("Pink.")], "tools": None, "x": 1}],
        "initial_policy_version": None,
        "final_policy_version": 3,
        "metrics": {"acc": True, "n": 2},
        "auto_metrics": {"duration": 0.5},
        "metadata": {"scenario_id": "s1", "k": None},
        "logs": ["l1"],
        "start_time": "2026-01-01T00:00:00Z",
        "reward": 1,
    }
    other = {"messages_and_choices": [USER, make_choice("Blue.")], "reward": 0.0}
    exceptions = [{"type": "<class 'ValueError'>", "message": "boom", "traceback": "..."}]
    group = {"trajectories": [trajectory, other], "exceptions": exceptions, "metadata": {}, "metrics": {}, "logs": []}
    content = json.dumps(REQUEST | {"trajectory_groups": [group]}).encode()
    reports = jobs.run("RL", content, {"learning_rate": 1e-3})
    answers = ("Red.", "Teal.", "Pink.", "Blue.")
    assert reports.metrics["num_trainable_tokens"] == sum(len(make_choice(text)["token_ids"]) for text in answers)
    assert (reports.metrics["num_trajectories"], reports.metrics["learning_rate"]) == (2, 1e-3)


@pytest.mark.parametrize("groups", [[], [{"trajectories": []}], [{"trajectories": [], "exceptions": []}] * 2])
def test_nothing_to_train_is_a_job_with_a_checkpoint(jobs, groups):
    reports = jobs.run("RL", json.dumps({"trajectory_groups": groups}).encode(), {})
    assert reports == [(0, "training_started", reports.metrics | {"num_sequences": 0})]
    assert reports.metrics == {
        "reward": 0.0,
        "reward_std_dev": 0.0,
        "num_groups_submitted": len(groups),
        "num_groups_trainable": 0,
        "num_trajectories": 0,
        "num_dropped_trajectories": 0,
        "learning_rate": 5e-6,
        "num_trainable_tokens": 0,
    }
    assert jobs.locate(reports).is_dir()


def test_groups_without_trainable_tokens_do_not_count_as_trainable(jobs, make_choice):
    def make_group(*choices):
        trajectories = [
            {"messages_and_choices": [USER, choice], "reward": index} for index, choice in enumerate(choices)
        ]
        return {"trajectories": trajectories}

    silent, long = make_choice("Red.") | {"logprobs": None}, make_choice("Red, " * 200)
    groups = [make_group(silent, silent), make_group(long, long), make_group(make_choice("Red."), silent)]
    for chosen, count in ((groups, 1), (groups[:2], 0)):
        content = json.dumps({"trajectory_groups": chosen}).encode()
        metrics = jobs.run("RL", content, {}, max_length=128).metrics
        assert (metrics["num_groups_submitted"], metrics["num_groups_trainable"]) == (len(chosen), count)


def test_weights_that_are_not_numbers_create_no_checkpoint():
    weights = {"a": torch.zeros(2), "b": torch.tensor([0.0, torch.inf])}
    require_finite({"a": weights["a"]})
    with pytest.raises(InvalidInput, match="adapter is not finite"):
        require_finite(weights)
