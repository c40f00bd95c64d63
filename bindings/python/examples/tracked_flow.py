"""A Metaflow flow with tracked steps: python tracked_flow.py run

    python tracked_flow.py card view start

shows the card of its step. A run with `--fail 1` shows the card of a failed step. From the second run on, the
advice also takes earlier runs into account.
"""
from time import monotonic, sleep

from metaflow import FlowSpec, Parameter, step, track_resources


class TrackedFlow(FlowSpec):
    """Allocates, computes in parallel, and joins."""

    megabytes = Parameter("megabytes", default=100, help="what to allocate")
    fail = Parameter("fail", default=0, help="raise an exception in the first step")

    @track_resources(interval=0.25)
    @step
    def start(self):
        """Uses memory and keeps a core busy."""
        block = bytearray(self.megabytes * 1_000_000)
        block[::4096] = b"x" * len(block[::4096])
        end = monotonic() + 1.5
        while monotonic() < end:
            pass
        if self.fail:
            raise RuntimeError("as you wished")
        self.parts = [0.2, 0.4]
        self.next(self.part, foreach="parts")

    @track_resources(interval=0.1)
    @step
    def part(self):
        """Each part has its own artifact and card."""
        sleep(self.input)
        self.next(self.join)

    @step
    def join(self, inputs):
        """The parts' tracking artifacts differ, and merging the artifacts works nevertheless."""
        self.slept = sum(part.input for part in inputs)
        self.merge_artifacts(inputs)
        self.next(self.end)

    @step
    def end(self):
        print(f"slept for {self.slept:.1f} s")


if __name__ == "__main__":
    TrackedFlow()
