"""Slots: adapters on the base model whose weights can be replaced.

Adding an adapter to a large model takes long. A slot stays, and the next job's weights are copied into it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict
from torch import Tensor
from torch.nn import Linear
from torch.optim import AdamW

from trainyard_base_model.targets import list_outside
from trainyard_trainer.compute.model.base import Base
from trainyard_trainer.compute.model.optimizer import build_optimizer, load_state, read_state
from trainyard_trainer.compute.model.routing import RoutedLinear
from trainyard_trainer.compute.model.targets import require_routable, require_routed
from trainyard_trainer.failures import JobFailure

# All untrained adapters of a base model and LoRA setting are equal, so that a repeated job gives the same result.
INITIAL_SEED = 0
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class Shape:
    """The properties in which a slot and an adapter must agree."""

    rank: int
    alpha: float
    target_modules: tuple[str, ...]
    use_rslora: bool = False


@dataclass(frozen=True)
class AdapterState:
    """An adapter's weights by PEFT's names, and its optimizer's state by these names and the kind of state."""

    weights: Tensors
    optimizer: Tensors


def is_same_adapter(one: AdapterState, other: AdapterState | None) -> bool:
    """Whether two states give the same outputs with the same weights. None is an untrained adapter, whose lora_B are
    zero."""
    if other is None:
        return not any(tensor.any() for name, tensor in one.weights.items() if "lora_B" in name)
    return all(torch.equal(tensor, other.weights[name].float()) for name, tensor in one.weights.items())


@dataclass(eq=False)
class Slot:
    """One adapter on the base: `name` for routes, its parameters by PEFT's names, and their optimizer."""

    name: str
    shape: Shape
    parameters: dict[str, torch.nn.Parameter]
    optimizer: AdamW
    initial: dict[str, Tensor]
    free: bool = field(default=True)

    @torch.no_grad()
    def fill(self, state: AdapterState | None) -> None:
        """Copies an adapter and its optimizer's state into the slot. None is an untrained adapter."""
        weights = self.initial if state is None else state.weights
        if not self.fits(weights) or (state and not self.fits_optimizer(state.optimizer)):
            message = "The weights of the checkpoint do not match an adapter of this base model."
            raise JobFailure("Internal", "CheckpointMismatch", message, retryable=False)
        for name, parameter in self.parameters.items():
            parameter.copy_(weights[name])
            parameter.grad = None
        load_state(self.optimizer, self.parameters, {} if state is None else state.optimizer)

    def fits(self, weights: Tensors) -> bool:
        shapes = {name: parameter.shape for name, parameter in self.parameters.items()}
        return {name: tensor.shape for name, tensor in weights.items()} == shapes

    def fits_optimizer(self, state: Tensors) -> bool:
        """Each kind of state has the size of its parameter, or is a single number."""
        shapes = {name: parameter.shape for name, parameter in self.parameters.items()}
        return all(
            not tensor.shape or tensor.shape == shapes.get(name.rpartition(".")[0]) for name, tensor in state.items()
        )

    def read(self) -> AdapterState:
        """A copy of the slot's contents, in float32 on the CPU."""
        weights = {
            name: parameter.detach().to("cpu", torch.float32, copy=True).contiguous()
            for name, parameter in self.parameters.items()
        }
        return AdapterState(weights, read_state(self.optimizer, self.parameters))

    def clear_gradients(self) -> None:
        self.optimizer.zero_grad()


class Slots:
    """All slots on a base model, used or free."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.all: list[Slot] = []
        self.tried = 0  # PEFT keeps the name of an adapter that failed to build
        self.model: PeftModel | None = None

    def acquire(self, shape: Shape) -> Slot:
        """Returns a free slot of this shape, or a new one. Its contents are undefined."""
        slot = next((slot for slot in self.all if slot.free and slot.shape == shape), None) or self.add(shape)
        slot.free = False
        return slot

    def release(self, slot: Slot) -> None:
        slot.clear_gradients()
        slot.optimizer.state.clear()  # twice as large as the adapter, and no longer needed
        slot.free = True

    def add(self, shape: Shape) -> Slot:
        require_routable(self.base.model, shape.target_modules)
        name = f"slot{self.tried}"
        self.tried += 1
        try:
            slot = self.build(name, shape)
        finally:  # PEFT makes only its active adapter trainable, also after an error
            self.let_train()
        self.all.append(slot)
        return slot

    def let_train(self) -> None:
        for slot in self.all:
            for parameter in slot.parameters.values():
                parameter.requires_grad_(True)

    def build(self, name: str, shape: Shape) -> Slot:
        config = describe_adapter(shape)
        config.exclude_modules = list_outside(self.base.model) or None
        config._register_custom_module({Linear: RoutedLinear})
        torch.manual_seed(INITIAL_SEED)
        if self.model is None:
            self.model = get_peft_model(self.base.model, config, adapter_name=name)
        else:
            self.model.add_adapter(name, config)
        self.require_routed(name)
        parameters = self.find_parameters(name)
        initial = {key: parameter.detach().to("cpu", copy=True) for key, parameter in parameters.items()}
        for parameter in parameters.values():
            parameter.requires_grad_(True)
        return Slot(name, shape, parameters, build_optimizer(parameters), initial)

    def require_routed(self, name: str) -> None:
        """Removes an adapter again if tokens of other runs would pass through it."""
        assert self.model
        try:
            require_routed(self.model)
        except JobFailure:
            self.model.delete_adapter(name)
            raise

    def find_parameters(self, name: str) -> dict[str, torch.nn.Parameter]:
        """The adapter's parameters by their names in PEFT's checkpoints."""
        assert self.model
        marked = {
            key.replace(f".{name}.", "."): parameter
            for key, parameter in self.model.named_parameters()
            if f".{name}." in key
        }
        saved = get_peft_model_state_dict(self.model, adapter_name=name, save_embedding_layers=False)
        return {self.base.adapter_names.to_file(key): marked[key] for key in sorted(saved)}


def describe_adapter(shape: Shape) -> LoraConfig:
    return LoraConfig(
        r=shape.rank,
        lora_alpha=shape.alpha,  # pyright: ignore[reportArgumentType]  # PEFT takes fractions, too
        target_modules=list(shape.target_modules),
        use_rslora=shape.use_rslora,
        lora_dropout=0.0,
        bias="none",
        task_type="CAUSAL_LM",
    )
