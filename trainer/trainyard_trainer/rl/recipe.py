"""How RL steps its optimizer."""

from trainyard_trainer.compute.model.optimizer import Recipe

# ART's values.
RL = Recipe("RL", weight_decay=0.1, max_grad_norm=0.1)
