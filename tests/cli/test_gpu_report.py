"""Results from a recording with GPUs agree with it: rows, CSV columns, summary, statistics, advice and page."""
import json
import os
import re
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import recordings
from gpu import Nvml

MIB = 1 << 20


@pytest.fixture
def recorded(run, binary, tmp_path, helpers):
    """A run on one of three GPUs, in both formats: (samples, rows of the CSV)."""
    if not os.path.exists(f"{binary}-analysis"):
        pytest.skip("resource-tracker-analysis is not built")
    nvml = Nvml(binary, tmp_path / "nvml.script")
    if not nvml.library.exists():
        pytest.skip(f"{nvml.library} is not built")
    lines = ["gpus 3", "utilization 0 80 30", "utilization 1 20 5", "memory 0 81920 600 4000", "memory 1 81920 600 700"]
    nvml.say(*lines)
    busier = "\\n".join(lines).replace("utilization 0 80", "utilization 0 40").replace("600 4000", "600 9000")
    result = run("-i", 0.3, "-o", tmp_path / "a.jsonl", "-o", tmp_path / "a.csv", "--", "sh", "-c",
                 f"echo process 0 $$ c 3000 60 >>{nvml.path}; sleep 1; "
                 f"printf '{busier}\\nprocess 0 %d c 5000 30\\n' $$ >{nvml.path}; sleep 1", env=nvml.env())
    assert result.returncode == 0
    return helpers.json_lines(tmp_path / "a.jsonl"), helpers.csv_rows(tmp_path / "a.csv")


def time_mean(samples, value):
    pairs = [(value(one), one["actual_interval_ms"]) for one in samples if value(one) is not None]
    return sum(number * secs for number, secs in pairs) / sum(secs for _, secs in pairs)


def most(samples, value):
    return max(value(one) for one in samples if value(one) is not None)


def test_sums_are_those_of_the_rows(recorded):
    samples, rows = recorded
    assert len(samples) == len(rows)
    for sample, row in zip(samples, rows):
        gpus = sample["gpu"]
        assert sample["totals"]["gpu_usage"] == pytest.approx(
            sum(gpu["utilization_pct"] for gpu in gpus) / 100, abs=1e-4 + 5e-4 * len(gpus))  # a row has one decimal
        assert sample["totals"]["gpu_vram_mib"] == sum(gpu["vram_used_bytes"] for gpu in gpus) / MIB
        assert sample["totals"]["gpu_utilized"] == sum(gpu["utilization_pct"] > 0 for gpu in gpus)
        if sample["cpu"]["process_gpu_usage"] is not None:
            used = sum(gpu["process_utilization_pct"] for gpu in gpus) / 100
            assert sample["cpu"]["process_gpu_usage"] == pytest.approx(used, abs=2e-4)
            assert sample["cpu"]["process_gpu_vram_mib"] == sum(gpu["process_vram_bytes"] for gpu in gpus) / MIB
        for column, value in (("system_gpu_usage", sample["totals"]["gpu_usage"]),
                              ("system_gpu_vram_mib", sample["totals"]["gpu_vram_mib"]),
                              ("system_gpu_utilized", sample["totals"]["gpu_utilized"]),
                              ("process_gpu_usage", sample["cpu"]["process_gpu_usage"]),
                              ("process_gpu_vram_mib", sample["cpu"]["process_gpu_vram_mib"]),
                              ("process_gpu_utilized", sample["cpu"]["process_gpu_utilized"])):
            assert (float(row[column]) if row[column] else None) == value


def test_the_summary_is_that_of_the_rows(recorded, run, tmp_path):
    samples, _ = recorded
    summary = json.loads(run("summary", "--json", tmp_path / "a.jsonl").out)
    assert [gpu["index"] for gpu in summary["gpus"]] == [0, 1, 2]
    for i, gpu in enumerate(summary["gpus"]):
        def of(key, scale=1):
            return lambda one: None if one["gpu"][i][key] is None else one["gpu"][i][key] * scale

        assert gpu["uuid"] == samples[0]["gpu"][i]["uuid"]
        assert gpu["mean_pct"] == pytest.approx(time_mean(samples, of("utilization_pct")), abs=0.01)
        assert gpu["max_pct"] == most(samples, of("utilization_pct"))
        assert gpu["memory_max_mib"] == most(samples, of("vram_used_bytes", 1 / MIB))
        assert gpu["memory_mean_mib"] == pytest.approx(time_mean(samples, of("vram_used_bytes", 1 / MIB)), rel=1e-4)
        assert gpu["job_mean_pct"] == pytest.approx(time_mean(samples, of("process_utilization_pct")), abs=0.01)
        assert gpu["job_memory_max_mib"] == most(samples, of("process_vram_bytes", 1 / MIB))
        assert gpu["energy_joules"] == pytest.approx(sum(one["gpu"][i]["energy_joules"] or 0 for one in samples), abs=0.01)
    assert [gpu["used_by_job"] for gpu in summary["gpus"]] == [True, False, False]
    assert summary["gpus"][0]["job_memory_max_mib"] == 5000
    whole = summary["gpu"]
    assert (whole["count"], whole["idle"], whole["memory_total_mib"]) == (3, 2, 3 * 81920)
    assert whole["mean"] == pytest.approx(time_mean(samples, lambda one: one["cpu"]["process_gpu_usage"]), abs=1e-3)
    assert whole["memory_max_mib"] == most(samples, lambda one: one["cpu"]["process_gpu_vram_mib"])
    assert whole["machine_mean"] == pytest.approx(time_mean(samples, lambda one: one["totals"]["gpu_usage"]), abs=1e-3)
    assert whole["energy_joules"] == pytest.approx(sum(gpu["energy_joules"] for gpu in summary["gpus"]), abs=0.01)
    text = run("summary", tmp_path / "a.jsonl").out
    assert len(re.findall(r"^ +[01]: mean ", text, re.M)) == 2 and re.search(r"^ +2: idle; not used by the job$", text, re.M)
    assert text.count("not used by the job") == 2


def test_statistics_are_the_same_of_both_formats(recorded, run, tmp_path):
    from_json, from_csv = (json.loads(run("stats", "--json", tmp_path / name).out) for name in ("a.jsonl", "a.csv"))
    for column in ("process_gpu_usage", "process_gpu_vram_mib", "process_gpu_utilized"):
        assert from_json[column] == from_csv[column]
    samples, _ = recorded
    values = [one["cpu"]["process_gpu_usage"] for one in samples if one["cpu"]["process_gpu_usage"] is not None]
    assert from_json["process_gpu_usage"]["max"] == pytest.approx(max(values), abs=0.01)
    one = json.loads(run("stats", "--json", "-c", "gpu[1].utilization_pct", "-a", "mean", tmp_path / "a.jsonl").out)
    assert one["gpu[1].utilization_pct"]["mean"] == 20.0


def test_advice_names_idle_gpus(recorded, run, tmp_path):
    advice = json.loads(run("recommend", "--force", "--json", tmp_path / "a.jsonl").out)
    summary = json.loads(run("summary", "--json", tmp_path / "a.jsonl").out)
    assert {note["rule"]: note["text"] for note in advice["notes"]}["idle_gpus"] == "it did not use 2 of 3 GPUs: 1, 2"
    assert advice["gpu"] == 1
    assert advice["evidence"]["vram"]["peak_mib"] == summary["gpu"]["memory_max_mib"] == 5000
    assert advice["evidence"]["gpu"]["energy_joules"] == summary["gpu"]["energy_joules"]


def test_the_page_has_the_same_figures(recorded, run, tmp_path):
    made = run("report", "-o", tmp_path / "a.html", tmp_path / "a.jsonl")
    assert made.returncode == 0, made.err
    page = (tmp_path / "a.html").read_text()
    data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S)[1])
    assert data["runs"][0]["summary"] == json.loads(run("summary", "--json", tmp_path / "a.jsonl").out)


# ---- recordings made by hand -----------------------------------------------------------------------------------


def gpu_row(uuid, index=0, **more):
    return {"uuid": uuid, "index": index, "visible": True, "vram_total_bytes": 1000 * MIB, "utilization_pct": 10.0,
            "process_count": 0, "process_utilization_pct": 0.0, "process_vram_bytes": 0, **more}


def summary_of(run, tmp_path, gpus):
    path = recordings.write(tmp_path / "x.jsonl", [recordings.sample(i, gpu=gpus(i)) for i in range(4)])
    return json.loads(run("summary", "--json", path).out)


def test_report_counts_no_instance_as_a_gpu(run, tmp_path):
    found = summary_of(run, tmp_path, lambda i: [
        gpu_row("GPU-a", utilization_pct=None, process_count=None),
        gpu_row("MIG-1", mig_parent="GPU-a", vram_total_bytes=100 * MIB, process_count=1),
        gpu_row("MIG-2", mig_parent="GPU-a", vram_total_bytes=100 * MIB)])
    assert (found["gpu"]["count"], found["gpu"]["memory_total_mib"], found["gpu"]["idle"]) == (1, 1000, 1)
    assert [gpu["mig_parent"] for gpu in found["gpus"]] == [None, "GPU-a", "GPU-a"]


def test_an_idle_instance_is_not_taken_for_its_device(run, tmp_path):
    def gpus(i):
        return [gpu_row("GPU-a", utilization_pct=None, process_count=None),
                gpu_row("MIG-1", mig_parent="GPU-a", mig_gpu_instance=7, process_count=1, process_utilization_pct=9.0),
                gpu_row("MIG-2", mig_parent="GPU-a", mig_gpu_instance=8), gpu_row("GPU-b", 1)]

    assert [gpu["mig_gpu_instance"] for gpu in summary_of(run, tmp_path, gpus)["gpus"]] == [None, 7, 8, None]
    lines = re.findall(r"^ +(\d.*?): .*(mean|unknown)", run("summary", tmp_path / "x.jsonl").out, re.M)
    assert [name for name, _ in lines] == ["0", "0 (instance 7)", "0 (instance 8)", "1"]
    advice = json.loads(run("recommend", "--force", "--json", tmp_path / "x.jsonl").out)
    assert {note["rule"]: note["text"] for note in advice["notes"]}["idle_gpus"] == (
        "it did not use 2 of 3 GPUs: 0 (instance 8), 1")


def test_a_gpu_of_which_nothing_is_known(run, tmp_path):
    row = gpu_row("GPU-a", utilization_pct=None, vram_used_bytes=None)
    nothing = {"totals": {"gpu_usage": None, "gpu_vram_mib": None}}
    path = recordings.write(tmp_path / "x.jsonl", [recordings.sample(i, gpu=[row], **nothing) for i in range(4)])
    assert re.search(r"^  GPU +use unknown", run("summary", path).out, re.M)


def test_report_leaves_shared_system_memory_out_of_vram(run, tmp_path):
    found = summary_of(run, tmp_path, lambda i: [
        gpu_row("GPU-a", memory_kind="dedicated"), gpu_row("GPU-b", 1, memory_kind="unified", vram_total_bytes=512 * MIB)])
    assert (found["gpu"]["count"], found["gpu"]["memory_total_mib"]) == (2, 1000)


def test_report_shows_instances_without_a_whole_device(run, tmp_path):
    found = summary_of(run, tmp_path, lambda i: [gpu_row("MIG-1", mig_parent="GPU-a", vram_total_bytes=100 * MIB)])
    assert (found["gpu"]["count"], found["gpu"]["memory_total_mib"]) == (1, 100)


def test_report_shows_unattributed_gpu_use_as_unknown(run, tmp_path):
    found = summary_of(run, tmp_path, lambda i: [gpu_row("GPU-a", process_count=1), gpu_row("GPU-b", 1, process_count=None,
                                                         process_utilization_pct=None, process_vram_bytes=None)])
    assert found["gpu"]["idle"] is None
    assert [gpu["used_by_job"] for gpu in found["gpus"]] == [True, None]


def test_hidden_gpus_are_not_the_jobs_to_use(run, tmp_path):
    found = summary_of(run, tmp_path, lambda i: [gpu_row("GPU-a", process_count=1), gpu_row("GPU-b", 1, visible=False)])
    assert found["gpu"]["idle"] == 0


def test_a_gpu_that_comes_and_goes_keeps_its_place(run, tmp_path):
    found = summary_of(run, tmp_path, lambda i: [gpu_row("GPU-b", 1, utilization_pct=50.0)] if i % 2 else
                       [gpu_row("GPU-a"), gpu_row("GPU-b", 1, utilization_pct=30.0)])
    assert [(gpu["uuid"], gpu["mean_pct"], gpu["max_pct"]) for gpu in found["gpus"]] == [
        ("GPU-a", 10.0, 10.0), ("GPU-b", 40.0, 50.0)]


# ---- time given away -------------------------------------------------------------------------------------------


def flat(text):
    return " ".join(text.split())


def record_of_minutes(run, tmp_path, gpus, exit_code=None):
    """A recording of ten samples, one a minute. Returns the summary and its text."""
    end = None if exit_code is None else {**recordings.END, "exit_code": exit_code}
    path = recordings.write(tmp_path / "m.jsonl", [recordings.sample(60 * i - 1, gpu=gpus(i), actual_interval_ms=60000,
                                                                     end=end if i == 10 else None) for i in range(1, 11)])
    return json.loads(run("summary", "--json", path).out), run("summary", path).out


def test_a_gpu_that_is_held_without_work_says_how_long(run, tmp_path):
    """It worked in the minutes 3 to 6 alone, and held 500 MiB from minute 2 on."""
    found, text = record_of_minutes(run, tmp_path, lambda i: [gpu_row(
        "GPU-a", process_count=int(i > 1), process_utilization_pct=80.0 if 3 <= i <= 6 else 0.0, process_vram_bytes=500 * MIB if i > 1 else 0)])
    gpu = found["gpus"][0]
    assert (gpu["first_use_secs"], gpu["last_use_secs"], gpu["idle_secs"]) == (120, 360, 360)
    assert (gpu["held_idle_secs"], gpu["held_idle_max_mib"]) == (300, 500)
    assert found["gpu"]["idle_hours"] == 0.1
    line = tmp_path / "runs.jsonl"
    assert run("runs", "add", "--runs", line, tmp_path / "m.jsonl").returncode == 0
    line = json.loads(line.read_text())
    assert (line["gpu_idle_hours"], line["gpu_held_idle_hours"]) == (0.1, pytest.approx(300 / 3600, abs=1e-4))
    assert re.search(r" first used after 2 min.*; idle from 6 min on.*; held 500 MiB without work for 5 min", flat(text)), text


def test_a_gpu_that_was_never_used_is_idle_from_the_start(run, tmp_path):
    found, text = record_of_minutes(run, tmp_path, lambda i: [gpu_row("GPU-a", process_count=1, process_utilization_pct=90.0), gpu_row("GPU-b", 1),
                                                              gpu_row("GPU-c", 2, visible=False)])
    assert [(gpu["first_use_secs"], gpu["idle_secs"]) for gpu in found["gpus"][:2]] == [(0, 0), (None, 600)]
    assert found["gpu"]["idle_hours"] == pytest.approx(1 / 6, abs=1e-4)
    assert "first used" not in text and "without work" not in text and "idle from" not in text


@pytest.mark.parametrize("more", [{"process_count": None, "process_utilization_pct": None, "process_vram_bytes": None}, {"mig_parent": "GPU-x"}])
def test_idle_hours_are_unknown_without_the_jobs_part_and_of_instances(run, tmp_path, more):
    found, text = record_of_minutes(run, tmp_path, lambda i: [gpu_row("GPU-a"), gpu_row("GPU-b", 1, **more)])
    assert found["gpu"]["idle_hours"] is None
    assert (found["gpus"][1]["idle_secs"] is None) == ("mig_parent" not in more)


@pytest.mark.parametrize("xid,words", [(79, "Xid 79: the GPU has fallen off the bus"), (999, "Xid 999: see the kernel's log")])
def test_an_xid_is_told_in_words(run, tmp_path, xid, words):
    """The last sample has lost the device, and with it the number."""
    found, text = record_of_minutes(run, tmp_path, lambda i: [gpu_row("GPU-a", xid_errors=None if i == 10 else int(i > 5), last_xid=None if i == 10
                                                                      else xid * (i > 5))])
    assert (found["gpus"][0]["xid_errors"], found["gpus"][0]["last_xid"]) == (1, xid)
    assert words in flat(text)
    found, text = record_of_minutes(run, tmp_path, lambda i: [gpu_row("GPU-a", xid_errors=0, last_xid=0)])
    assert (found["gpus"][0]["xid_errors"], found["gpus"][0]["last_xid"]) == (0, None)
    assert "Xid" not in text


def test_errors_of_memory_count_from_the_start_of_the_recording(run, tmp_path):
    """The driver had 100 before, and counts from 0 again after the reset in minute 6. One sample knows nothing."""
    counts = [100, 100, None, 103, 103, 2, 2, 2, 5, 5]
    found, text = record_of_minutes(run, tmp_path, lambda i: [
        gpu_row("GPU-a", ecc_corrected_errors=7, ecc_uncorrected_errors=counts[i - 1], remapped_rows_corrected=4, remapped_rows_uncorrected=i,
                remap_pending=int(i > 5), remap_failed=0),
        gpu_row("GPU-b", 1)])
    gpu, other = found["gpus"]
    assert (gpu["ecc_corrected_errors"], gpu["ecc_uncorrected_errors"]) == (0, 3 + 2 + 3)
    assert gpu["remapped_rows"] == {"corrected": 4, "uncorrected": 10, "pending": 1, "failed": 0}
    assert gpu["course"] == "its memory had errors that ECC did not correct (8); its next reset replaces a row of its memory"
    assert other["course"] is None
    assert "errors that ECC did not correct (8); its next reset replaces a row of its memory" in flat(text)
    assert text.count("ECC") == 1 and "could not be replaced" not in text
    assert (other["ecc_corrected_errors"], other["ecc_uncorrected_errors"]) == (None, None)
    assert other["remapped_rows"] == dict.fromkeys(gpu["remapped_rows"])


def test_reasons_of_lower_clocks_are_told_in_seconds(run, tmp_path):
    reasons = ["none", "idle", "power_cap", "power_cap+thermal_software", "power_cap", "none", "none", None, "none", "none"]
    found, text = record_of_minutes(run, tmp_path, lambda i: [gpu_row("GPU-a", process_count=1, process_utilization_pct=80.0,
                                                                      throttle_reasons=reasons[i - 1])])
    assert found["gpus"][0]["slowed_secs"] == {"power_cap": 180, "thermal_software": 60}
    assert re.search(r" slowed by its power limit for 3 min.*; slowed by heat for 1 min", flat(text)), text
    found, text = record_of_minutes(run, tmp_path, lambda i: [gpu_row("GPU-a", process_count=1, process_utilization_pct=80.0)])
    assert found["gpus"][0]["slowed_secs"] is None
    assert "slowed" not in text


def test_the_units_that_worked_are_told_beside_the_utilization(run, tmp_path):
    """Only samples in which the device worked count. Without GPM there is no word of them."""
    def row(i):
        works = i > 5
        return [gpu_row("GPU-a", utilization_pct=100.0 * works, sm_active_pct=6.0 * works + (i == 10) * 4, tensor_active_pct=2.0 * works,
                        dram_active_pct=None, fp32_active_pct=1.5 * works, sm_occupancy_pct=0.5 * works)]
    found, text = record_of_minutes(run, tmp_path, row)
    assert found["gpus"][0]["activity"] == {"sm_active_pct": 6.8, "tensor_active_pct": 2, "dram_active_pct": None, "sm_occupancy_pct": 0.5,
                                            "fp64_active_pct": None, "fp32_active_pct": 1.5, "fp16_active_pct": None}
    assert "at work: multiprocessors 7 % active, tensor cores 2 %" in flat(text), text
    for values in ({}, {"utilization_pct": 0.5, "sm_active_pct": 3.0}):
        found, text = record_of_minutes(run, tmp_path, lambda i: [gpu_row("GPU-a", **values)])
        assert (found["gpus"][0]["activity"]["sm_active_pct"], "at work" in text) == (values.get("sm_active_pct"), False)


@pytest.mark.parametrize("used_mib, job_mib, status, told", [(970, 900, 1, True), (940, 900, 1, False), (970, 400, 1, False), (970, 900, 0, False)])
def test_a_run_that_failed_with_a_full_gpu_is_told_so(run, tmp_path, used_mib, job_mib, status, told):
    def row(i):
        return [gpu_row("GPU-a", process_count=1, vram_total_bytes=1000 * MIB, vram_used_bytes=used_mib * MIB * (i > 5),
                        process_vram_bytes=job_mib * MIB * (i > 5))]
    found, text = record_of_minutes(run, tmp_path, row, exit_code=status)
    sentence = "It failed, and 970 MiB of the 1000 MiB of GPU 0 had been in use: probably it asked for more."
    assert (found["bottlenecks"][0]["rule"] == "gpu_memory") == told == (sentence in flat(text)), text
