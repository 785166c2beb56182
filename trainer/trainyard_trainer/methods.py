"""The training methods. Generated from crds/methods.ts by "npm run gen": do not edit."""

from trainyard_trainer.rl.job import run_rl_job
from trainyard_trainer.sft.job import run_sft_job

METHODS = {"RL": run_rl_job, "SFT": run_sft_job}
