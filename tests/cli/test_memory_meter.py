"""The tests' own meter of memory (memory_truth.py): it forgives no wrong figure, and is right while a job gives memory back."""
import subprocess
import time

import memory_truth

MIB = memory_truth.MIB


def readings_beside(moves, before_mib, after_mib):
    """Two readings, from 0 to 0.1 s and from 0.9 to 1 s, and the moves of process 1 in between: (moment, MiB) or (since, until, MiB)."""
    moves = [(move[0], move[-2], {1: move[-1] * MIB}) for move in moves]
    return [memory_truth.Reading(begun=begun, ended=begun + 0.1, bytes=mib * MIB, processes=1, rss=mib * MIB, moves=moves)
            for begun, mib in ((0, before_mib), (0.9, after_mib))]


def test_meter_forgives_only_memory_that_was_there_at_the_sample():
    moves = [(0.05, 100), (0.48, 100), (0.52, 300), (0.56, 300), (0.60, 100), (0.64, 100), (0.95, 100)]
    readings = readings_beside(moves, 100, 100)
    for at, mib, holds in ((0.54, 300, True), (0.54, 100, False), (0.54, 400, False), (0.50, 200, True), (0.62, 300, False), (0.62, 100, True),
                           (0.46, 300, False)):
        judged, = memory_truth.judge([(at, at + 0.001, mib)], readings)
        assert judged.holds == holds, (at, mib, str(judged))


def test_meter_knows_nothing_from_moves_far_apart():
    readings = readings_beside([(0.05, 100), (0.3, 300), (0.95, 100)], 100, 100)
    judged, = memory_truth.judge([(0.5, 0.501, 300)], readings)
    assert not judged.holds


def test_meter_does_not_date_a_move_that_was_interrupted():
    """The size was read at some moment from 0.49 to 0.53 s. A sample at 0.50 s may show the memory that was taken meanwhile."""
    readings = readings_beside([(0.05, 0), (0.46, 0.49, 0), (0.49, 0.53, 0), (0.53, 0.55, 300), (0.95, 300)], 0, 300)
    judged, = memory_truth.judge([(0.50, 0.501, 250)], readings)
    assert judged.holds, judged


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
