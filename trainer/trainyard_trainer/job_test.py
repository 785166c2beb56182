import hashlib
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from trainyard_artifacts.addresses import ArtifactError
from trainyard_artifacts.checkpoints import ADAPTER_WEIGHTS, OPTIMIZER_STATE, fetch_checkpoint
from trainyard_artifacts.settings import StoreSettings
from trainyard_artifacts.store import FolderStore
from trainyard_trainer.adapter import open_adapter
from trainyard_trainer.advantages import Sample
from trainyard_trainer.claims import Artifact, Claim
from trainyard_trainer.config import Settings, read_lora
from trainyard_trainer.failures import InvalidInput
from trainyard_trainer.forward import build_batch, compute_logprobs
from trainyard_trainer.job import run_job
from trainyard_trainer.payload import History
from trainyard_trainer.tokenize import tokenize_history

USER = {"role": "user", "content": "Name a colour."}
LORA = read_lora({})


class Reports(list):
    """Keeps what a job reports, in the place of a lease."""

    def check(self):
        pass

    def post_event(self, seq, kind, data):
        self.append((seq, kind, data))

    def post_checkpoint(self, uri, digest, metrics):
        self.checkpoint = Artifact(uri, digest)
        self.metrics = metrics


@pytest.fixture
def train(tmp_path, base, make_choice):
    """Trains on answers with their rewards and gives the reports; the n-th call writes the checkpoint n."""
    settings = Settings("", Path(), base.name, "", StoreSettings(str(tmp_path)), 4096, LORA)
    count = 0

    def run(answers, start=None, digest=None, **config):
        nonlocal count
        count += 1
        trajectories = [{"messages_and_choices": [USER, make_choice(text)], "reward": r} for text, r in answers]
        content = json.dumps({"trajectory_groups": [{"trajectories": trajectories}]}).encode()
        found = hashlib.sha256(content).hexdigest()
        (tmp_path / "payloads").mkdir(exist_ok=True)
        (tmp_path / "payloads" / f"{found}.json").write_bytes(content)
        payload = Artifact(f"artifact:///payloads/{found}.json", digest or found)
        checkpoint_id = f"00000000-0000-4000-8000-{count:012d}"
        config = {"learning_rate": 1e-3, "epsilon": None} | config
        reports = Reports()
        run_job(Claim("job", 1, "RL", payload, config, checkpoint_id, start, 15.0), reports, base, settings)
        return reports

    run.root = tmp_path
    return run


def read_weights(root, reports):
    return load_file(locate(root, reports) / ADAPTER_WEIGHTS)


def locate(root, reports):
    return root / reports.checkpoint.uri.removeprefix("artifact:///")


def measure(base, checkpoint, choice):
    """The summed log-probability of a sampled answer under a checkpoint, or under the untrained adapter."""
    tokens = tokenize_history(History([USER, choice], None), base.tokenizer, "here")
    sample = Sample(tokens, 0, 1.0, 1.0)
    with open_adapter(base, LORA, checkpoint) as model, torch.no_grad():
        return compute_logprobs(model, [sample], build_batch([sample], base.device).mask)[0].sum().item()


def test_a_job_from_payload_to_checkpoint(train):
    reports = train([("Red.", 1.0), ("Blue.", 0.0), ("Teal.", 0.5)])
    assert [(seq, kind) for seq, kind, _ in reports] == [(0, "training_started"), (1, "gradient_step")]
    step = reports[1][2]
    assert reports[0][2]["num_sequences"] == 1
    assert all(isinstance(value, int | float) for value in step.values())
    shown = ("reward", "num_groups_submitted", "num_groups_trainable", "num_trajectories", "learning_rate")
    assert [step[name] for name in shown] == [0.5, 1, 1, 3, 1e-3]
    assert reports.metrics == step
    folder = locate(train.root, reports)
    names = ["adapter_config.json", "adapter_model.safetensors", "manifest.json", "optimizer.safetensors"]
    assert sorted(path.name for path in folder.iterdir()) == names
    uri, digest = reports.checkpoint.uri, reports.checkpoint.digest
    assert fetch_checkpoint(FolderStore(train.root), uri, digest, [OPTIMIZER_STATE]) == folder
    config = json.loads((folder / "adapter_config.json").read_text())
    assert (config["base_model_name_or_path"], config["r"], config["lora_alpha"]) == ("trainyard/tiny-chat", 8, 16)
    assert [path.name for path in (train.root / "checkpoints").iterdir()] == [folder.name]


def test_a_retry_repeats_the_same_events_and_weights(train):
    answers = [("Red.", 1.0), ("Blue.", 0.0)]
    first, second = train(answers), train(answers)
    for one, other in zip(first, second, strict=True):
        assert one[:2] == other[:2]
        assert without_speed(one[2]) == without_speed(other[2])
    for name, tensor in read_weights(train.root, first).items():
        assert torch.equal(tensor, read_weights(train.root, second)[name]), name


def without_speed(data):
    return {name: value for name, value in data.items() if name != "tokens_per_second"}


def test_a_positive_advantage_raises_and_a_negative_one_lowers(train, base, make_choice):
    reports = train([("Red.", 1.0), ("Blue.", 0.0)])
    folder = locate(train.root, reports)
    assert measure(base, folder, make_choice("Red.")) > measure(base, None, make_choice("Red."))
    assert measure(base, folder, make_choice("Blue.")) < measure(base, None, make_choice("Blue."))


def test_a_negative_advantage_alone_lowers(train, base, make_choice):
    # The balance takes the positive side away.
    folder = locate(train.root, train([("Red.", 1.0), ("Blue.", 0.0)], advantage_balance=-1.0))
    assert measure(base, folder, make_choice("Blue.")) < measure(base, None, make_choice("Blue."))


def test_equal_rewards_leave_the_adapter_bit_equal(train):
    before = train([("Red.", 1.0), ("Blue.", 0.0)])
    after = train([("Red.", 0.3), ("Blue.", 0.3)], start=before.checkpoint)
    assert [kind for _, kind, _ in after] == ["training_started"]
    assert after[0][2]["num_sequences"] == 0
    assert after.metrics["num_groups_trainable"] == 0
    assert after.metrics["num_trainable_tokens"] == 0
    one, other = locate(train.root, before), locate(train.root, after)
    for name in ("adapter_model.safetensors", "adapter_config.json", "optimizer.safetensors"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_equal_rewards_on_a_new_model_give_the_untrained_adapter(train, base, make_choice):
    reports = train([("Red.", 0.3), ("Blue.", 0.3)])
    weights = read_weights(train.root, reports)
    assert all(not tensor.any() for name, tensor in weights.items() if "lora_B" in name)
    choice = make_choice("Red.")
    assert measure(base, locate(train.root, reports), choice) == measure(base, None, choice)


def test_the_next_job_goes_on_with_the_optimizer_where_the_last_ended(train):
    first = train([("Red.", 1.0), ("Blue.", 0.0)])
    second = train([("Red.", 1.0), ("Blue.", 0.0)], start=first.checkpoint)
    states = [load_file(locate(train.root, job) / "optimizer.safetensors") for job in (first, second)]
    steps = [{value.item() for name, value in state.items() if name.endswith(".step")} for state in states]
    assert steps == [{1.0}, {2.0}]


def test_precalculated_logprobs_give_a_ratio_of_one(train):
    # The choices claim a log-probability of -0.5 each; the trainer's own make every ratio 1.
    own = train([("Red.", 1.0), ("Blue.", 0.0)], precalculate_logprobs=True, ppo=True)
    assert own[1][2]["loss"] == pytest.approx(0.0, abs=1e-4)  # the sum of advantages x weights


def test_a_payload_with_another_digest_is_refused(train):
    with pytest.raises(InvalidInput, match="digest"):
        train([("Red.", 1.0)], digest="0" * 64)


def test_a_damaged_checkpoint_is_not_trained_on(train):
    before = train([("Red.", 1.0), ("Blue.", 0.0)])
    (locate(train.root, before) / ADAPTER_WEIGHTS).write_bytes(b"something else")
    with pytest.raises(ArtifactError, match="damaged"):
        train([("Red.", 1.0), ("Blue.", 0.0)], start=before.checkpoint)


def test_a_diverging_loss_is_the_users_to_mend(train, make_choice):
    with pytest.raises(InvalidInput, match="not a finite number"):
        train([("Red.", 1.0), ("Blue.", 0.0)], kimi_k2_tau=1e308)
