import pytest
import torch

from gpu.models import DEVICE, TYPES, load
from testing.tiny_models import make_families
from trainyard_trainer.compute.model.kernels import apply_liger, fuse
from trainyard_trainer.compute.model.probe import choose_packing
from trainyard_trainer.compute.rows.attention import CURRENT, NAME
from trainyard_trainer.compute.rows.attention_test import attend_densely
from trainyard_trainer.compute.rows.flex import attend_by_flex, build_block_mask
from trainyard_trainer.compute.rows.layout import build_layout

# The maximum differences of attention and of its gradients, relative to the largest value.
DIFFERENCES = {torch.float32: (1e-4, 1e-3), torch.bfloat16: (2e-2, 5e-2)}


def test_torch_computes_on_the_gpu():
    assert torch.ones(2, device=DEVICE).sum().item() == 2
    print(torch.cuda.get_device_name(), torch.__version__, torch.version.cuda)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("count", "longest", "window", "heads", "groups", "width"),
    [
        pytest.param(1, 8, None, 4, 4, 64, id="a row shorter than a block"),
        pytest.param(3, 40, None, 4, 2, 8, id="narrow heads"),
        pytest.param(5, 300, None, 32, 8, 128, id="the shape of a 4B model"),
        pytest.param(5, 300, None, 16, 8, 80, id="heads that are no power of two"),
        pytest.param(4, 200, None, 8, 1, 256, id="wide heads that share their keys"),
        pytest.param(5, 300, 100, 8, 4, 64, id="a window"),
        pytest.param(7, 900, None, 8, 8, 64, id="a long row"),
    ],
)
def test_flex_attention_and_its_gradients_are_those_of_a_whole_mask(
    count, longest, window, heads, groups, width, dtype
):
    layout = build_layout(make_families(count, count, max_length=longest), DEVICE)
    torch.manual_seed(0)
    tensors = [
        torch.randn(1, number, layout.num_tokens, width, device=DEVICE, dtype=dtype, requires_grad=True)
        for number in (heads, groups, groups)
    ]
    found = attend_by_flex(*tensors, None, build_block_mask(layout, window))
    exact = [tensor.detach().double().requires_grad_() for tensor in tensors]
    wanted = attend_densely(layout, exact, None, window)
    max_difference, max_gradient_difference = DIFFERENCES[dtype]
    assert differ(found, wanted) < max_difference
    pushed = torch.randn_like(wanted)
    gradients = torch.autograd.grad(found, tensors, pushed.to(dtype))
    for one, other in zip(gradients, torch.autograd.grad(wanted, exact, pushed), strict=True):
        assert differ(one, other) < max_gradient_difference


def differ(one, other):
    return ((one.double() - other).abs().max() / other.abs().max()).item()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["Llama", "Qwen2", "Qwen3", "Mistral with a window", "Gemma3 with windows"])
def test_models_take_flex_attention_and_fused_kernels(name, dtype, capfd):
    base = load(name, dtype, **({"head_dim": 32} if "3" in name else {}))
    base.model.gradient_checkpointing_enable({"use_reentrant": False})
    base.model.set_attn_implementation(NAME)
    assert choose_packing(base), capfd.readouterr().out
    assert CURRENT.uses_flex, capfd.readouterr().out
    assert fuse(base, apply_liger), capfd.readouterr().out
