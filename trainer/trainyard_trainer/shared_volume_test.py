import os
from collections.abc import Iterator

import pytest

from trainyard_artifacts.settings import StoreSettings
from trainyard_base_model.start_failure import StartFailure
from trainyard_trainer.shared_volume import require_shared_volume

OTHER = 12_345


@pytest.fixture
def volume(tmp_path) -> Iterator[StoreSettings]:
    root = tmp_path / "volume"
    root.mkdir()
    for folder in (root, *root.parents[:3]):
        folder.chmod(0o755)
    yield StoreSettings(str(root))
    if os.getuid() == 0:
        os.seteuid(0)


def become_other() -> None:
    """Root may write everywhere."""
    if os.geteuid() == 0:
        os.seteuid(OTHER)


def test_a_volume_that_can_be_written_keeps_nothing_of_the_check(volume):
    require_shared_volume(volume)
    require_shared_volume(volume)
    assert os.listdir(volume.address) == [".spool"]
    assert os.listdir(f"{volume.address}/.spool") == []


def test_a_volume_that_cannot_be_written_is_told(volume):
    os.chmod(volume.address, 0o555)
    become_other()
    with pytest.raises(StartFailure, match=r"StoreNotWritable: .*Permission denied at .*/\.spool\. Use a volume"):
        require_shared_volume(volume)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_a_volume_whose_files_the_operator_could_not_remove_is_told(volume):
    spool = f"{volume.address}/.spool"
    os.mkdir(spool)
    os.chown(spool, 1, 1)
    os.chmod(spool, 0o777)
    become_other()
    with pytest.raises(StartFailure, match=r"StoreNotShared: .* belong to user 12345 .* to user 1 and group 1"):
        require_shared_volume(volume)


def test_a_bucket_has_no_volume():
    require_shared_volume(StoreSettings("s3://bucket"))
