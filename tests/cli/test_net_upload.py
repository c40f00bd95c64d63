"""resource-tracker-net later sends samples that were left behind, and nothing twice."""
import os
import pathlib
import random
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from sentinel_support import (Script, compare_rows, downloaded_rows, end, end_after, needs_net, sent_rows, states,  # noqa: E402
                              swift, template, world)  # noqa: F401

pytestmark = needs_net


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment_and_continued(world, swift, seed):
    """SIGKILL strikes at random, and another process continues each time. No row is lost or stored twice."""
    chance = random.Random(seed)
    world.serve(store=world.store())
    world.front.trouble = lambda request: chance.choice(["lost", None, None, "slow 0.1"])
    recorder = world.record()
    for _ in range(5):
        process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
        deadline = time.monotonic() + chance.uniform(0.1, 0.9)
        while time.monotonic() < deadline:
            recorder.write(chance.randrange(3))
            time.sleep(0.05)
        process.kill()
        process.wait()
    world.front.trouble = None
    recorder.write(2)
    recorder.end()
    done = world.upload(recorder.path)
    assert (done.returncode, done.stderr) == (0, "")
    finished = [run for run in world.sentinel.runs.values() if run.finishes]
    assert len(finished) == 1
    compare_rows(sent_rows(finished[0], swift), recorder.samples)
    again = world.upload(recorder.path)
    assert again.returncode == 0 and "sent already" in again.stderr
    assert len(finished[0].finishes) == 1


def test_upload_finds_the_waiting_batches(world):
    for name in ("one.jsonl", "two.jsonl"):
        recorder = world.record(name)
        process = world.follow(recorder, deadline=0.2)
        recorder.write(2)
        recorder.end(exit_code=4)
        assert end(process)[0] == 1
    world.serve()
    done = world.upload()
    assert (done.returncode, done.stderr) == (0, "")
    assert [run.finish["exit_code"] for run in world.sentinel.runs.values()] == [4, 4]
    assert world.upload().returncode == 0 and len(world.sentinel.runs) == 2
    assert world.upload(world.path / "one.jsonl").stderr.endswith("this run has been sent already\n")
    assert not list(world.spool.glob("*.lock"))


def left_behind(world, name="run.jsonl", rows=2, exit_code=0):
    """Leaves a run that could not be sent; returns its recorder."""
    recorder = world.record(name)
    process = world.follow(recorder, deadline=0.2)
    recorder.write(rows)
    recorder.end(exit_code=exit_code)
    code, said = end(process)
    assert code == 1 and f"resource-tracker upload {world.spool}" in said
    return recorder


def test_upload_sends_a_run_after_the_next_run_renamed_its_recording(world):
    """With a nightly -o run.jsonl, the first run is FILE.1 when the second is sent."""
    first = left_behind(world, exit_code=3)
    first.path.rename(world.path / "run.jsonl.1")
    world.serve()
    second = world.record("run.jsonl")
    second.at += 60
    process = world.follow(second)
    second.write(2)
    second.end()
    assert end(process)[0] == 0
    done = world.upload()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"1 run is sent; nothing is left in {world.spool}.\n"
    runs = sorted(world.sentinel.runs.values(), key=lambda run: run.finish["exit_code"])
    assert [run.finish["exit_code"] for run in runs] == [0, 3]
    compare_rows(sent_rows(runs[1]), first.samples)
    assert not any(state["finished"] is False for state in states(world.spool))


def test_upload_by_name_sends_the_renamed_run_too(world):
    first = left_behind(world)
    first.path.rename(world.path / "run.jsonl.7")
    second = world.record("run.jsonl")
    second.at += 60
    second.write(2)
    second.end()
    world.serve()
    assert world.upload(second.path).returncode == 0
    assert len(world.sentinel.runs) == 2


@pytest.mark.parametrize("named", [False, True])
def test_batches_of_a_recording_that_was_removed_are_sent(world, named):
    """Samples in the spool do not need the recording."""
    recorder = left_behind(world, rows=3)
    recorder.path.unlink()
    world.serve()
    done = world.upload(*([recorder.path] if named else []))
    assert done.returncode == 0 and "no longer exists: sending the samples of run" in done.stderr, done.stderr
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)
    assert world.upload().stdout == f"Nothing is left to send in {world.spool}.\n"
    assert not list(world.spool.glob("*.csv.gz"))


def test_another_recording_in_the_place_of_a_removed_one_is_not_taken_for_it(world):
    recorder = left_behind(world, rows=3, exit_code=5)
    recorder.path.write_text('{"something":"else"}\n')
    world.serve()
    done = world.upload()
    assert done.returncode == 0 and "no longer exists" in done.stderr
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


def test_upload_reports_the_remaining_runs(world):
    left_behind(world, "a.jsonl")
    left_behind(world, "b.jsonl")
    world.serve()
    world.sentinel.trouble = lambda request: 403 if request["path"].endswith("/runs") else None
    done = world.upload()
    assert done.returncode == 1 and done.stdout == f"0 runs are sent; 2 still wait in {world.spool}.\n"
    assert done.stderr.count("3 samples are not sent") == 2
    world.sentinel.trouble = None
    done = world.upload()
    assert (done.returncode, done.stdout) == (0, f"2 runs are sent; nothing is left in {world.spool}.\n")


@pytest.mark.parametrize("wait, said", [("3", "run.jsonl: trying again in 3 s\n"), ("0", "")])
def test_upload_says_that_the_server_asks_it_to_wait(world, wait, said):
    """A server that is overloaded may ask for minutes. A wait of a moment is not told."""
    left_behind(world)
    world.serve()
    world.sentinel.trouble = Script((503, b"", [("Retry-After", wait)]))
    done = world.upload()
    assert (done.returncode, done.stdout) == (0, f"1 run is sent; nothing is left in {world.spool}.\n")
    assert done.stderr.endswith(f"HTTP 503\n{said and f'resource-tracker upload: {world.path}/{said}'}"), done.stderr


def test_upload_by_name_tries_and_tells_each_run_once(world):
    """Its state in the spool, which the failed upload leaves, names it again by its whole path."""
    recorder = world.record()
    recorder.write(2)
    recorder.end()
    world.serve()
    world.sentinel.trouble = lambda request: 403 if request["path"].endswith("/runs") else None
    done = world.upload(recorder.path.name)
    assert done.returncode == 1 and done.stderr.count("samples are not sent") == 1 and "/run.jsonl" not in done.stderr
    world.sentinel.trouble = None
    assert world.upload(recorder.path.name).returncode == 0


def test_upload_of_a_recording_that_moved(world):
    recorder = world.record()
    process = world.follow(recorder, deadline=0.2)
    recorder.write(2)
    recorder.end()
    assert end(process)[0] == 1
    moved = world.path / "elsewhere.jsonl"
    recorder.path.rename(moved)
    world.serve()
    assert world.upload(moved).returncode == 0
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)
    assert "sent already" in world.upload(moved).stderr


def test_upload_sends_a_recording_without_a_follower(world, swift):
    """Several runs in one file; the first was killed."""
    first = world.record()
    first.write(4)
    first.die()
    first.close()
    second = world.record()
    second.at += 60
    second.write(2)
    second.end(exit_code=2)
    world.serve(store=world.store())
    done = world.upload(first.path)
    assert (done.returncode, done.stderr) == (0, "")
    runs = list(world.sentinel.runs.values())
    assert [run.finish["run_status"] for run in runs] == ["failed", "failed"]
    assert [run.finish["exit_code"] for run in runs] == [None, 2]
    compare_rows(sent_rows(runs[0]), first.samples)
    compare_rows(sent_rows(runs[1]), second.samples)


@pytest.mark.slow
def test_a_long_run_goes_to_the_store_in_parts(world, swift):
    """2 MiB of rows a batch: too much for a single finish call."""
    recorder = world.record()
    recorder.write(18000)
    recorder.end()
    world.serve(store=world.store())
    done = world.upload(recorder.path)
    assert (done.returncode, done.stderr) == (0, "")
    finish = world.sentinel.run.finish
    assert finish["data_source"] == "s3" and 2 <= len(finish["data_uris"]) <= 4
    rows = downloaded_rows(swift, finish["data_uris"])
    assert len(rows) == len(recorder.samples)
    compare_rows(rows[-100:], recorder.samples[-100:])


def test_upload_leaves_a_recording_alone_that_is_being_written(world, spawn, helpers):
    world.serve()
    path = world.path / "live.jsonl"
    process = spawn("-i", 0.1, "-o", path, "--", "sleep", "20")
    helpers.wait_until(lambda: path.exists() and path.stat().st_size)
    done = world.upload(path)
    assert done.returncode == 1 and "still being recorded" in done.stderr
    assert not world.sentinel.requests
    helpers.end_process(process)


def test_a_full_spool_drops_the_oldest_and_says_so(world, monkeypatch):
    """The limit is 256 MiB: if other runs have filled the spool to it, there is no room."""
    world.spool.mkdir(mode=0o700)
    with open(world.spool / "other.000000.csv.gz", "wb") as other:
        other.truncate(257 << 20)
    recorder = world.record()
    process = world.follow(recorder, deadline=0.3, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(3)
    code, err = end_after(process, recorder)
    assert code == 1 and "is full (256 MiB): the oldest samples of this run are dropped" in err
    state = states(world.spool)[0]
    assert state["rows"] == state["rows_lost"] == 4 and not spooled_rows_of_run(world.spool, state)


def spooled_rows_of_run(folder, state):
    return [path for path in folder.glob("*.csv.gz") if path.name != "other.000000.csv.gz"]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_under_the_spool(world, swift, helpers):
    world.spool.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", world.spool], check=True)
    try:
        filler = world.spool / "filler"
        world.serve(store=world.store())
        recorder = world.record()
        process = world.follow(recorder, deadline=6, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
        recorder.write(3)
        time.sleep(0.6)
        with open(filler, "wb", buffering=0) as full:
            with pytest.raises(OSError):
                while True:
                    full.write(b"x" * 4096)
        recorder.write(3)
        time.sleep(0.6)
        filler.unlink()
        recorder.write(3)
        code, err = end_after(process, recorder)
        assert code == 0 and err.count("No space left on device") == 1
        compare_rows(sent_rows(world.sentinel.run, swift), recorder.samples)
    finally:
        subprocess.run(["umount", "-l", world.spool], check=True)


def test_states_and_batches_that_are_damaged(world):
    """The recording counts, not the content of the spool."""
    recorder = world.record()
    process = world.follow(recorder, deadline=0.2)
    recorder.write(3)
    recorder.end()
    assert end(process)[0] == 1
    state = next(world.spool.glob("*.state"))
    for damage in (b"", b"{}", b'{"version":1}', state.read_bytes()[:100], b"\xff" * 64,
                   state.read_bytes().replace(b'"offset":', b'"offset":-')):
        state.write_bytes(damage)
        world.serve()
        done = world.upload(recorder.path)
        assert done.returncode == 0, done.stderr
        compare_rows(sent_rows(world.sentinel.run), recorder.samples)
        state.unlink()


