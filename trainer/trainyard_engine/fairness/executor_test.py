from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace

import pytest

from trainyard_engine.fairness.executor import FairSubmission, share_fairly
from trainyard_engine.fairness.tenants import Tenant, tenant_now


@pytest.fixture
def executor():
    """With one thread, as vLLM's."""
    renderer = SimpleNamespace(_executor=ThreadPoolExecutor(1), _mm_executor=ThreadPoolExecutor(1), tokenizer=None)
    share_fairly(renderer)
    yield renderer._executor
    renderer._executor.shutdown()
    renderer._mm_executor.shutdown()


def submit_as(executor, name, function, *arguments):
    token = tenant_now.set(Tenant(name))
    try:
        return executor.submit(function, *arguments)
    finally:
        tenant_now.reset(token)


def test_a_tenant_with_many_tasks_delays_others_by_one(executor):
    begin, done = Event(), []
    tasks = [submit_as(executor, "many", begin.wait)]
    tasks += [submit_as(executor, "many", done.append, f"many{index}") for index in range(5)]
    tasks += [submit_as(executor, "few", done.append, f"few{index}") for index in range(2)]
    begin.set()
    for task in tasks:
        task.result(10)
    assert done[:2] == ["few0", "few1"], "the first task took longer than two"


def test_of_two_threads_a_tenant_has_one():
    begin, executor = Event(), ThreadPoolExecutor(2)
    executor.submit = FairSubmission(executor.submit, 2).submit
    tasks = [submit_as(executor, "long", begin.wait) for _ in range(2)]
    assert submit_as(executor, "short", sum, [1, 2]).result(10) == 3
    begin.set()
    assert all(task.result(10) for task in tasks)
    executor.shutdown()


def test_results_errors_and_cancelled_tasks(executor):
    begin = Event()
    executor.submit(begin.wait)
    cancelled = submit_as(executor, "a", begin.set)
    assert cancelled.cancel()
    failed = submit_as(executor, "a", int, "no number")
    summed = submit_as(executor, "b", sum, [1, 2])
    begin.set()
    assert summed.result(10) == 3
    with pytest.raises(ValueError, match="no number"):
        failed.result(10)


def test_a_task_after_the_end(executor):
    executor.shutdown()
    with pytest.raises(RuntimeError):
        executor.submit(int).result(10)
