"""Whether this process can write to the volume of the artifact store, and the operator can remove what it writes."""

import errno
import os
from pathlib import Path
from uuid import uuid4

from trainyard_artifacts.files import let_group_write
from trainyard_artifacts.settings import StoreSettings
from trainyard_base_model.start_failure import StartFailure

PROBE_PREFIX = "probe-"
DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)
ADVICE = (
    "Use a volume that takes fsGroup, or give apiserver, operator and trainers one user or one group "
    "(podSecurityContext.runAsUser, runAsGroup)."
)


def require_shared_volume(settings: StoreSettings) -> None:
    """Writes and removes a folder. A job would only notice after its training. Raises StartFailure."""
    root = Path(settings.address)
    # A volume that is not there is another fault, which may pass.
    if not root.is_absolute() or not root.is_dir():
        return
    spool = root / ".spool"
    try:
        spool.mkdir(exist_ok=True)
        let_group_write(spool)
        probe = spool / f"{PROBE_PREFIX}{uuid4()}"
        probe.mkdir()
        ours, shared = probe.stat(), spool.stat()
        probe.rmdir()
    except OSError as cause:
        if cause.errno not in DENIED:
            return  # it may pass; jobs wait for the store
        raise StartFailure(
            "StoreNotWritable",
            f"User {os.geteuid()} with the groups {os.getgroups()} cannot write to the volume of the artifact store: "
            f"{cause.strerror} at {cause.filename}. {ADVICE}",
        ) from cause
    if ours.st_uid != shared.st_uid and ours.st_gid != shared.st_gid:
        raise StartFailure(
            "StoreNotShared",
            f"On the volume of the artifact store, folders of this trainer belong to user {ours.st_uid} and group "
            f"{ours.st_gid}, and those of apiserver and operator to user {shared.st_uid} and group {shared.st_gid}: "
            f"the operator could not remove checkpoints. {ADVICE}",
        )
