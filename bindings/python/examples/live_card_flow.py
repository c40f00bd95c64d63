"""A Metaflow flow whose card shows a step while it runs: python live_card_flow.py run

    python live_card_flow.py card server --poll-interval 5

shows the cards in a browser. Here the first step runs until it has seen two cards of itself, at most four minutes.
"""
import glob
import time

from metaflow import FlowSpec, step, track_resources

PAGES = ".metaflow/mf.cards/LiveCardFlow/runs/*/steps/start/tasks/*/cards/*.html"


def running_pages():
    """Returns the cards of a running step that lie in the local datastore now, as texts."""
    texts = []
    for path in glob.glob(PAGES):
        with open(path) as page:
            texts.append(page.read())
    return [text for text in texts if 'http-equiv="refresh"' in text and text.rstrip().endswith("</html>")]


class LiveCardFlow(FlowSpec):
    @track_resources(interval=0.2, refresh=1)
    @step
    def start(self):
        """refresh=1 is for this example: each card costs about 2 s of CPU time."""
        until, seen = time.monotonic() + 240, set()
        while len(seen) < 2 and time.monotonic() < until:
            seen.update(running_pages())
            time.sleep(0.1)
        self.cards = sorted(seen, key=len)
        self.next(self.work)

    @track_resources(interval=0.2)
    @step
    def work(self):
        """Ends before its first card of a minute, so that it has one at its end only."""
        begin = time.process_time()
        sum(i * i for i in range(5_000_000))
        self.own_cpu = time.process_time() - begin
        self.next(self.end)

    @step
    def end(self):
        print(f"the step showed {len(self.cards)} cards of itself while it ran")


if __name__ == "__main__":
    LiveCardFlow()
