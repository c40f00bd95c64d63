"""The tests' own meter of memory (memory_truth.py): it forgives no wrong figure, and is right while a job gives memory back."""
import subprocess
import time

import memory_truth

MIB = memory_truth.MIB


def readings_beside(moves, before_mib, after_mib, anonymous_mib=None):
    """Two readings, from 0 to 0.1 s and from 0.9 to 1 s, and moves: (moment, MiB) or (since, until, MiB). A move is beside each end of a reading."""
    first, last = (anonymous_mib, anonymous_mib) if anonymous_mib else (before_mib, after_mib)
    moves = [(-0.01, first), (0.11, first), *moves, (0.89, last), (1.01, last)]
    moves = [(move[0], move[-2], move[-1] * MIB) for move in moves]
    return [memory_truth.Reading(begun=begun, ended=begun + 0.1, bytes=mib * MIB, processes=1, rss=mib * MIB, moves=moves)
            for begun, mib in ((0, before_mib), (0.9, after_mib))]


def test_meter_forgives_only_memory_that_was_there_at_the_sample():
    moves = [(0.44 + 0.02 * i, 300 if i in (4, 5, 6, 7) else 100) for i in range(12)]
    readings = readings_beside(moves, 100, 100)
    for at, mib, holds in ((0.54, 300, True), (0.54, 100, False), (0.54, 400, False), (0.51, 200, True), (0.62, 300, False), (0.62, 100, True),
                           (0.46, 300, False)):
        judged, = memory_truth.judge([(at, at + 0.001, mib)], readings)
        assert judged.holds == holds, (at, mib, str(judged))


def test_meter_does_not_judge_while_memory_moves_unseen():
    """A move 0.1 s before the sample, or 0.3 s after it, tells little about it."""
    readings = readings_beside([(0.48, 100), (0.6, 300), (0.88, 100)], 100, 100)
    for at in (0.5, 0.58, 0.7):
        assert not memory_truth.judge([(at, at + 0.001, 300)], readings), at
    # Where it stands still, it is judged, however seldom the meter looks.
    for mib, holds in ((100, True), (300, False)):
        judged, = memory_truth.judge([(0.3, 0.301, mib)], readings_beside([(0.5, 100)], 100, 100))
        assert judged.holds == holds


def test_meter_does_not_date_a_move_that_was_interrupted():
    """The size was read at some moment from 0.49 to 0.51 s. A sample at 0.50 s may show the memory that was taken meanwhile."""
    readings = readings_beside([(0.46, 0.49, 0), (0.49, 0.51, 0), (0.51, 0.53, 300)], 0, 300)
    judged, = memory_truth.judge([(0.50, 0.501, 250)], readings)
    assert judged.holds, judged


def test_meter_knows_when_a_process_ends_between_two_readings():
    """Its memory has gone at 0.5 s, and another process takes as much at 0.6 s. The other reading in between is torn."""
    readings = readings_beside([(0.46, 100), (0.48, 100), (0.50, 60), (0.54, 60), (0.56, 60), (0.58, 60), (0.64, 100), (0.68, 100), (0.71, 100)], 150, 150, anonymous_mib=100)
    torn = memory_truth.Reading(begun=0.5, ended=0.6, bytes=80 * MIB, processes=2, rss=80 * MIB, moves=readings[0].moves, steady=False)
    for at, mib, holds in ((0.55, 110, True), (0.55, 150, False), (0.70, 150, True), (0.70, 110, False)):
        judged, = memory_truth.judge([(at, at + 0.001, mib)], [readings[0], torn, readings[1]])
        assert judged.holds == holds, (at, mib, str(judged))


def test_meter_does_not_judge_a_sample_when_a_process_comes_or_goes_and_no_move_says_when():
    readings = readings_beside([], 150, 150)
    torn = memory_truth.Reading(begun=0.5, ended=0.6, bytes=80 * MIB, processes=2, rss=80 * MIB, moves=readings[0].moves, steady=False)
    assert not memory_truth.judge([(0.55, 0.551, 110)], [readings[0], torn, readings[1]])
    assert memory_truth.judge([(0.55, 0.551, 110)], readings)


def test_meter_believes_a_peak_that_a_move_shows():
    readings = readings_beside([(0.5, 160)], 150, 150, anonymous_mib=100)
    for told, holds in ((210, True), (228, True), (250, False)):
        assert memory_truth.peak_holds(told, readings) == holds, told


def test_meter_does_not_believe_mappings_while_their_pages_are_being_freed(binary, tmp_path):
    job = memory_truth.build_job(binary, tmp_path)
    with subprocess.Popen([job, *"private 600 sleep 300 free sleep 300".split()], stdin=subprocess.DEVNULL) as process:
        readings, tmpfs = [], memory_truth.tmpfs_devices()
        while process.poll() is None:
            held = memory_truth.resident_bytes(process.pid) / MIB
            reading = memory_truth.read_once([process.pid], tmpfs)
            after = memory_truth.resident_bytes(process.pid) / MIB
            readings.append((reading.unmapping, reading.mib, min(held, after)))
            time.sleep(0.001)
    assert max(mib for _, mib, _ in readings) > 590
    assert any(unmapping and mib < 10 and held > 100 for unmapping, mib, held in readings), readings
    wrong = [(mib, held) for unmapping, mib, held in readings if not unmapping and mib < held - 20]
    assert not wrong, wrong


def test_meter_does_not_believe_that_an_object_left_while_its_pages_are_being_freed():
    """munmap(2) takes the mapping of an object away first. Others have 50 MiB of shared memory, too."""
    leaving = memory_truth.Leaving()
    for named, machine, unmapping in ((0, 50, False), (200, 250, False), (200, 250, False), (0, 249, True), (0, 150, True), (0, 71, True),
                                      (0, 70, False), (0, 250, False), (100, 350, False), (99, 350, False)):
        reading = memory_truth.Reading(begun=0, named=named * MIB, machine=machine * MIB)
        leaving.notice(reading)
        assert reading.unmapping == unmapping, (named, machine)
