import os

import pytest

from trainyard_artifacts.folder_cache import FolderCache


@pytest.fixture
def cache(tmp_path):
    return FolderCache(tmp_path / "cache", 100)


def fill_with(size):
    return lambda folder: (folder / "file").write_bytes(b"x" * size)


def test_a_folder_is_filled_once(cache):
    folder = cache.get("a", fill_with(10))
    assert cache.get("a", fill_with(20)) == folder
    assert [path.stat().st_size for path in folder.iterdir()] == [10]


def test_a_folder_that_could_not_be_filled_is_absent(cache):
    def fail(folder):
        fill_with(10)(folder)
        raise OSError("cut off")

    with pytest.raises(OSError, match="cut off"):
        cache.get("a", fail)
    assert list(cache.root.iterdir()) == []


def test_the_slower_of_two_uses_the_existing_folder(cache):
    def fill(folder):
        cache.get("a", fill_with(10))
        fill_with(20)(folder)

    assert [path.stat().st_size for path in cache.get("a", fill).iterdir()] == [10]
    assert [path.name for path in cache.root.iterdir()] == ["a"]


def test_the_least_recently_used_are_removed(cache):
    for age, name in enumerate(["d", "c", "b", "a"]):
        os.utime(cache.get(name, fill_with(40)), (1000 + age, 1000 + age))
    cache.get("d", fill_with(40))  # used again
    assert [path.name for path in cache.surplus()] == ["c", "b"]
    cache.trim()
    assert sorted(path.name for path in cache.root.iterdir()) == ["a", "d"]


def test_the_last_used_one_stays_at_any_size(cache):
    cache.get("a", fill_with(1000))
    assert cache.surplus() == []


def test_the_rest_of_a_crash_is_removed(cache):
    cache.sweep()  # the folder does not exist yet
    cache.get("a", fill_with(10))
    for name in ("old.partial", "young.partial", "growing.partial"):
        (cache.root / name).mkdir()
    fill_with(10)(cache.root / "growing.partial")
    for name in ("old.partial", "growing.partial"):
        os.utime(cache.root / name, (1000, 1000))
    cache.sweep()
    assert sorted(path.name for path in cache.root.iterdir()) == ["a", "growing.partial", "young.partial"]
