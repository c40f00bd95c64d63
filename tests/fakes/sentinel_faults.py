"""Random schedules of trouble for a streamed run: in every case, every row of the recording is in the objects, in the
finish, or still in the recording that `upload` sends later; none is there twice, and the end is within the deadline."""
import random
import time

from sentinel_support import compare_rows, sent_rows

TROUBLES = [None, None, None, 500, 503, 429, 401, 404, "reset", "cut", "garbage", "lost", "hang 1", "slow 0.2", "drip", "huge"]
DEADLINE_SECS = 2


def run_schedule(world, seed, slack_secs=1):
    """One run with the troubles of the seed. Raises if a promise is broken. `slack_secs`: margin for a busy machine."""
    chance = random.Random(seed)
    world.serve(store=world.store(expires_secs=chance.choice([None, 25, 3600])))
    servers = [world.sentinel, world.front]
    for server in servers:
        likely = chance.choice([0, 0.3, 0.7, 1])
        server.trouble = lambda request, likely=likely: chance.choice(TROUBLES) if chance.random() < likely else None
    recorder = world.record()
    process = world.follow(recorder, deadline=DEADLINE_SECS, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    until = time.monotonic() + chance.uniform(0, 1.5)
    while time.monotonic() < until:
        recorder.write(chance.randrange(4))
        time.sleep(chance.uniform(0, 0.2))
        if chance.random() < 0.1:
            world.swift.give("test:0")  # the keys are invalid from now on
        if chance.random() < 0.1:
            process.kill()
            process.wait()
            process = world.follow(recorder, deadline=DEADLINE_SECS, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write()
    if chance.random() < 0.8:
        recorder.end(exit_code=chance.randrange(3))
    else:
        recorder.die()
    ended = time.monotonic()
    process.communicate(timeout=20)
    late = time.monotonic() - ended - DEADLINE_SECS
    assert late < slack_secs, f"{late:.2f} s after the deadline"
    for server in servers:
        server.trouble = None
    done = world.upload(recorder.path)
    assert done.returncode == 0, done.stderr
    finished = [run for run in world.sentinel.runs.values() if run.finishes]
    assert len(finished) == 1, f"{len(finished)} runs are finished"
    # A finish whose answer was lost is sent again, unchanged.
    assert all(finish == finished[0].finishes[0] for finish in finished[0].finishes)
    del finished[0].finishes[1:]
    compare_rows(sent_rows(finished[0], world.swift), recorder.samples)
    return len(recorder.samples)
