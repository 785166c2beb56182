"""The settings as arguments of vLLM's server."""

from trainyard_engine.config import Settings

# For vLLM, an empty list allows all domains. This domain never exists (RFC 6761), so requests must send media as
# `data:` URLs.
NO_DOMAIN = "media.invalid"


def build_arguments(settings: Settings, extra: list[str]) -> list[str]:
    """`extra` comes last, so that an administrator can override everything except the names."""
    arguments = ["--model", settings.model, "--host", settings.host, "--port", str(settings.port)]
    arguments += ["--enable-lora", "--max-loras", str(settings.max_loras)]
    arguments += ["--max-cpu-loras", str(max(settings.max_cpu_loras, settings.max_loras))]
    arguments += ["--max-lora-rank", str(round_rank(settings.max_lora_rank))]
    arguments += ["--allowed-media-domains", NO_DOMAIN, "--disable-fastapi-docs"]
    # The usage then says how much of a prompt came from the cache, which is divided by entity.
    arguments += ["--enable-prompt-tokens-details"]
    # The log-probabilities that the tokens were sampled with. Without it, those of another temperature look like plain
    # samples, and training on them has no sign of that.
    arguments += ["--logprobs-mode", "processed_logprobs"]
    arguments += ["--worker-extension-cls", "trainyard_engine.worker.WorkerExtension"]
    arguments += ["--scheduler-cls", "trainyard_engine.scheduler.build_scheduler"]
    # By itself vLLM aborts all requests at SIGTERM.
    arguments += ["--shutdown-timeout", str(settings.drain_seconds)]
    if settings.max_model_len is not None:
        arguments += ["--max-model-len", str(settings.max_model_len)]
    return [*arguments, *extra, "--served-model-name", *settings.model_names]


# vLLM only reserves memory for these ranks.
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)


def round_rank(rank: int) -> int:
    return next((allowed for allowed in RANKS if allowed >= rank), RANKS[-1])
