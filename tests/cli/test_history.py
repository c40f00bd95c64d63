"""The history of runs on this machine, and the identity of a run."""
import os
import re

from conftest import json_lines


def test_each_run_has_an_identity_of_its_own(run, tmp_path):
    folder = tmp_path / "my work"
    folder.mkdir()
    starts = []
    for name in "a.jsonl", "b.jsonl":
        run("-o", tmp_path / name, "--", "true", cwd=folder)
        starts.append(json_lines(tmp_path / name)[0]["run_start"])
    first, second = (start["run_id"] for start in starts)
    uuid7 = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert re.fullmatch(uuid7, first) and re.fullmatch(uuid7, second)
    assert first < second, "identities sort by time"
    assert starts[0]["folder"] == "my work"
    assert os.sep not in starts[0]["folder"]
