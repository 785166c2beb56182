"""`python -m trainyard_colocated [VLLM_ARGUMENT...]`: runs an engine, and a trainer that takes turns with it."""

import asyncio
import os
import sys
import tempfile

from trainyard_base_model.device_turns import SOCKET_VARIABLE
from trainyard_colocated.environment import select_engine_env, select_trainer_env
from trainyard_colocated.programs import Program
from trainyard_colocated.supervision import supervise


def main() -> None:
    # Paths of sockets are short. The folder is this user's alone.
    with tempfile.TemporaryDirectory(prefix="trainyard-") as folder:
        env = dict(os.environ) | {SOCKET_VARIABLE: os.path.join(folder, "device")}
        engine = Program("engine", [sys.executable, "-m", "trainyard_engine", *sys.argv[1:]], select_engine_env(env))
        trainer = Program("trainer", [sys.executable, "-m", "trainyard_trainer"], select_trainer_env(env))
        code = asyncio.run(supervise(engine, trainer))
    sys.exit(code)


if __name__ == "__main__":
    main()
