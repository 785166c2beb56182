"""Jobs take turns on the device, a pass through the base at a time, those that have used it least first; where the base
model allows it, several go through the base together.
"""

import resource
import time
from collections.abc import Sequence
from traceback import clear_frames

import torch

from trainyard_trainer import log
from trainyard_trainer.compute.device_thread import BROKEN, DeviceThread
from trainyard_trainer.compute.example import Example
from trainyard_trainer.compute.machine import Machine
from trainyard_trainer.compute.passes import Pass, plan_turn, split_evenly
from trainyard_trainer.compute.policy import Policy
from trainyard_trainer.compute.step import split_in_order, split_packed, split_padded
from trainyard_trainer.compute.work import Work
from trainyard_trainer.config import ANY, OFF
from trainyard_trainer.failures import Fenced, JobFailure, Leaving


class Turns(DeviceThread):
    """What jobs do in their turns."""

    def __init__(self, machine: Machine, policy: Policy) -> None:
        super().__init__()
        self.machine = machine
        self.policy = policy

    def submit(self, work: Work) -> None:
        """Its steps are taken from now on; `work.read_reports` tells."""
        work.budget = self.policy.max_batch_tokens
        work.on_read = self.wake
        with self.changed:
            self.require_open()
            work.used_seconds = min((other.used_seconds for other in self.works), default=0.0)
            self.works.append(work)
            self.changed.notify()

    def split(self, examples: Sequence[Example], budget: int) -> list[list[list[Example]]]:
        """Examples in order, in turns of passes through the base; those without a trained token are in none."""
        choose = split_packed if self.machine.base.packs else split_in_order
        width = self.machine.width
        parts = split_evenly(lambda bound: choose(examples, bound), budget, width)
        passes = [[examples[place] for place in part] for part in parts]
        return [passes[start : start + width] for start in range(0, len(passes), width)]

    def split_places(self, examples: Sequence[Example], budget: int) -> list[list[int]]:
        split = split_packed if self.machine.base.packs else split_padded
        return split_evenly(lambda bound: split(examples, bound), budget, self.machine.width)

    def serve(self, first: Work, works: list[Work]) -> None:
        """A turn for `first`, and for those that can go with it."""
        self.forget_waiting(first)
        self.served = chosen = [first]
        started = time.monotonic()
        try:
            if self.prepare(first):
                companions = self.find_companions(first, works)
                passes = plan_turn(first, companions, self.machine.width, self.policy.max_batch_tokens)
                self.served = chosen = list(dict.fromkeys(share.work for shares in passes for share in shares))
                self.take_turn(passes, chosen)
        except BROKEN:
            raise
        except Exception as cause:  # of whatever kind: the job ends with it, the thread goes on
            self.recover(chosen, cause)
        spent = (time.monotonic() - started) / len(chosen)
        for work in chosen:
            work.used_seconds += spent

    def forget_waiting(self, first: Work) -> None:
        """Who waits for its reader saves up no time: it would have the device for itself afterwards."""
        with self.changed:
            for work in self.works:
                if work.waits_for_reader:
                    work.used_seconds = max(work.used_seconds, first.used_seconds)

    def prepare(self, work: Work) -> bool:
        """True where its next part is ready to be computed; ends or saves the work where that is due."""
        work.check()
        if work.begun:
            return bool(work.parts)
        if work.is_finished or work.is_leaving():
            self.end(work)
            return False
        if work.is_save_due():
            work.save(self.machine.read(work.slot), last=False)
        self.begin_step(work)
        return bool(work.parts)

    def begin_step(self, work: Work) -> None:
        step = work.step
        parts = self.split_places(step.examples, work.budget)
        surveyed = self.survey(work, parts) if step.objective.surveys and parts else 0.0
        work.begin_step(parts, surveyed)
        if not parts:  # without a gradient there is no step: the optimizer's momentum would take one
            work.end_step(0.0, measure_memory())

    def survey(self, work: Work, parts: list[list[int]]) -> float:
        passes = [[work.step.examples[place] for place in part] for part in parts]
        scored = self.machine.score(work.slot, passes, work.check)
        return work.step.objective.survey([example for examples in passes for example in examples], scored)

    def find_companions(self, first: Work, works: list[Work]) -> list[Work]:
        """Others whose next parts may go with this one's, those that have used the device least first."""
        if self.policy.co_batch == OFF or not self.may_join(first):
            return []
        found: list[Work] = []
        for work in sorted(works, key=lambda work: work.used_seconds):
            allowed = self.policy.co_batch == ANY or work.entity == first.entity
            if allowed and work is not first and self.may_join(work) and self.is_ready(work):
                found.append(work)
        return found

    def may_join(self, work: Work) -> bool:
        """The head sees only the tokens that predict trained ones, so that the ranges of a row say nothing to it."""
        return self.machine.base.packs and not work.alone and not self.machine.adapts_head(work.slot)

    def is_ready(self, work: Work) -> bool:
        """As `prepare`, but what is wrong with it waits for its own turn."""
        if work.begun:
            return True
        if work.is_finished or work.is_leaving() or work.is_save_due() or work.step.objective.surveys:
            return False
        try:
            self.begin_step(work)
        except BROKEN:
            raise
        except Exception:  # met again then
            work.restart_step()
            return False
        return bool(work.parts)

    def take_turn(self, passes: list[Pass], works: list[Work]) -> None:
        started = time.monotonic()

        def check() -> None:
            for work in works:
                work.check()

        results = self.machine.backward([[share.build_part() for share in shares] for shares in passes], check)
        for shares, found in zip(passes, results, strict=True):
            for share, result in zip(shares, found, strict=True):
                share.work.record(share.places, result)
        spent = time.monotonic() - started
        for work in works:
            work.joined |= len(works) > 1
            work.step_seconds += spent
            if not work.parts:
                self.end_step(work)

    def end_step(self, work: Work) -> None:
        started = time.monotonic()
        try:
            norm = self.machine.take_step(work.slot, work.recipe, work.step.learning_rate)
        except JobFailure as cause:
            self.suspect(work, cause)
            return
        work.step_seconds += time.monotonic() - started
        try:
            work.end_step(norm, measure_memory())
        except BROKEN:
            raise
        except Exception as cause:  # of whatever kind: tried anew, the step would be taken twice
            self.drop(work, cause)

    def suspect(self, work: Work, cause: JobFailure) -> None:
        """Gradients that are no numbers may come from any job that was in a pass of this step, an earlier one too: flex
        attention multiplies with the zeros of its mask. Each of them finds out at the end of its own step, alone."""
        if not work.joined:
            self.drop(work, cause)
            return
        self.machine.clear(work.slot)
        work.restart_step()
        work.alone = True

    def end(self, work: Work) -> None:
        self.remove(work)
        try:
            state = self.machine.read(work.slot)
        except BROKEN:
            raise
        except Exception as cause:  # of whatever kind: others may be in this turn
            self.drop(work, cause)
        else:
            work.save(state, last=True)

    def recover(self, works: list[Work], cause: Exception) -> None:
        """Nothing of a pass that failed counts. One job's failure is not another's: they go on by themselves."""
        for work in works:
            self.machine.clear(work.slot)
            work.restart_step()
        if isinstance(cause, Fenced | Leaving):
            self.dismiss(works)
        elif len(works) > 1:
            for work in works:
                work.alone = True
        elif isinstance(cause, torch.OutOfMemoryError):
            self.shrink(works[0], cause)
        else:
            self.drop(works[0], cause)

    def dismiss(self, works: list[Work]) -> None:
        """Those that were taken away, and those that have no more time: these save the steps that they have taken."""
        for work in works:
            try:
                work.check()
            except Leaving:
                self.end(work)
            except Exception as cause:  # of whatever kind: another's may be here before its turn
                self.drop(work, cause)

    def shrink(self, work: Work, cause: torch.OutOfMemoryError) -> None:
        """One retry of a step with half as many tokens in a pass."""
        let_go(cause)
        if work.budget < self.policy.max_batch_tokens:
            self.drop(work, cause)
        else:
            work.budget //= 2
            message = "out of memory, trying again with smaller batches"
            work.context.run(log.warn, message, max_batch_tokens=work.budget)

    def drop(self, work: Work, cause: BaseException) -> None:
        self.remove(work)
        self.machine.clear(work.slot)
        work.fail(cause)

    def remove(self, work: Work) -> None:
        with self.changed:
            if work in self.works:
                self.works.remove(work)


def let_go(cause: torch.OutOfMemoryError) -> None:
    """Of what the pass that failed had computed: the frames of the exception hold it."""
    clear_frames(cause.__traceback__)
    torch.cuda.empty_cache()


def measure_memory() -> int:
    """Bytes: the most that was allocated on the GPU, or held by the process where there is none."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
