from itertools import islice

import pytest

from trainyard_trainer.retries import RetryPolicy, back_off, call_with_retries


class Unsteady:
    """Fails some times before it succeeds."""

    def __init__(self, failures, kind=ConnectionError):
        self.failures = failures
        self.kind = kind
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise self.kind(f"call {self.calls}")
        return "answer"


def test_a_call_is_repeated_until_it_succeeds():
    reported, waited, call = [], [], Unsteady(2)
    policy = RetryPolicy(ConnectionError, back_off(1.0, 9.0), lambda cause: reported.append(str(cause)), waited.append)
    assert call_with_retries(call, policy) == "answer"
    assert (call.calls, reported, waited) == (3, ["call 1", "call 2"], [1.0, 2.0])


def test_the_last_failure_is_raised_when_no_pause_is_left():
    reported, call = [], Unsteady(9)
    policy = RetryPolicy(ConnectionError, (1.0, 1.0), reported.append, lambda _: None)
    with pytest.raises(ConnectionError, match="call 3"):
        call_with_retries(call, policy)
    assert (call.calls, len(reported)) == (3, 2)


def test_other_exceptions_are_not_repeated():
    call = Unsteady(1, ValueError)
    with pytest.raises(ValueError, match="call 1"):
        call_with_retries(call, RetryPolicy(ConnectionError, (1.0,)))
    assert call.calls == 1


def test_an_exception_of_the_wait_ends_the_call():
    def wait(_):
        raise KeyError("the lease is over")

    with pytest.raises(KeyError):
        call_with_retries(Unsteady(1), RetryPolicy(ConnectionError, (1.0,), wait=wait))


def test_pauses_double_up_to_the_maximum():
    assert list(islice(back_off(0.5, 5.0), 6)) == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]
