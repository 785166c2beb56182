import json

import pytest
import torch
from torch.nn.functional import rms_norm
from transformers.models.llama import modeling_llama
from transformers.models.llama.modeling_llama import LlamaForCausalLM, LlamaMLP, LlamaRMSNorm

from testing.tiny_models import make_base
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.kernels import apply_liger, fuse
from trainyard_trainer.compute.model.probe import probe

ROPE = modeling_llama.apply_rotary_pos_emb


def put_in(model: LlamaForCausalLM, normalize) -> None:
    """Replaces it in all places of kernels: layers, their classes, names of their module."""
    modeling_llama.apply_rotary_pos_emb = lambda query, key, cos, sin: ROPE(query.contiguous(), key, cos, sin)
    forward = LlamaMLP.forward
    LlamaMLP.forward = lambda self, x: forward(self, x)
    LlamaMLP.fused = True
    for layer in model.modules():
        if isinstance(layer, LlamaRMSNorm):
            layer.offset = 0.0
            layer.forward = lambda x, layer=layer: normalize(x, layer)


def be_right(model):
    put_in(model, lambda x, layer: rms_norm(x, x.shape[-1:], layer.weight, layer.variance_epsilon))


def be_wrong(model):
    put_in(model, lambda x, layer: rms_norm(x, x.shape[-1:], layer.weight, 0.1))


def be_wrong_backward(model):
    put_in(model, lambda x, layer: layer.weight * x * x.detach().square().mean(-1, keepdim=True).add(1e-6).rsqrt())


def be_no_number(model):
    put_in(model, lambda x, layer: x * torch.nan)


def fail_backward(model):
    put_in(model, lambda x, layer: Failing.apply(LlamaRMSNorm.forward(layer, x)))


def fail_half_way(model):
    be_wrong(model)
    raise RuntimeError("no compiler")


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise RuntimeError("out of shared memory")


@pytest.fixture
def llama():
    """A model. The names that kernels replace are restored afterwards."""
    forward = LlamaMLP.forward
    yield make_base("Llama")
    modeling_llama.apply_rotary_pos_emb, LlamaMLP.forward = ROPE, forward
    if "fused" in vars(LlamaMLP):
        del LlamaMLP.fused


def test_kernels_with_the_same_results_as_the_model_stay(llama, capfd):
    plain = probe(llama)
    assert fuse(llama, be_right)
    assert modeling_llama.apply_rotary_pos_emb is not ROPE
    assert vars(LlamaMLP)["fused"]
    assert all("forward" in vars(layer) for layer in list_norms(llama))
    assert probe(llama).differs_from(plain, torch.float32) is None
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("apply", "reason"),
    [
        pytest.param(be_wrong, "log-probabilities differ", id="another result"),
        pytest.param(be_wrong_backward, "gradients differ", id="another gradient"),
        pytest.param(be_no_number, "log-probabilities differ by nan", id="no numbers"),
        pytest.param(fail_backward, "RuntimeError: out of shared memory", id="fails on the way back"),
        pytest.param(fail_half_way, "RuntimeError: no compiler", id="fails when it is half put in"),
    ],
)
def test_kernels_with_other_results_are_removed_completely(llama, apply, reason, capfd):
    plain, forward, held = probe(llama), LlamaMLP.forward, [dict(vars(layer)) for layer in llama.model.modules()]
    assert not fuse(llama, apply)
    (line,) = map(json.loads, capfd.readouterr().out.splitlines())
    assert line["message"] == "the model goes without fused kernels"
    assert line["reason"].startswith(reason)
    assert modeling_llama.apply_rotary_pos_emb is ROPE
    assert LlamaMLP.forward is forward
    assert "fused" not in vars(LlamaMLP)
    assert [vars(layer) for layer in llama.model.modules()] == held
    again = probe(llama)
    assert torch.equal(again.logprobs_N, plain.logprobs_N)
    assert torch.equal(again.gradient_D, plain.gradient_D)


def test_a_machine_without_the_kernels_works_without_them(llama, capfd):
    assert not fuse(llama, apply_liger)
    assert json.loads(capfd.readouterr().out)["level"] == "warn"


def list_norms(base: Base) -> list[LlamaRMSNorm]:
    return [layer for layer in base.model.modules() if isinstance(layer, LlamaRMSNorm)]
