"""How SFT steps its optimizer."""

from trainyard_trainer.compute.model.optimizer import Recipe

# ART's values.
SFT = Recipe("SFT", weight_decay=0.0, max_grad_norm=1.0)
