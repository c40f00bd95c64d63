"""gpu_tracker's analysis and comparison with all of its columns: numbers and layout, computed again by its rules."""
import collections
import json
import re
import sqlite3
import statistics

import pytest

import recordings

STATIC = {"ram_unit": "gigabytes", "gpu_ram_unit": "gigabytes", "time_unit": "hours", "ram_system_capacity": 25.276686336,
          "gpu_ram_system_capacity": 16.376, "system_core_count": 4, "n_expected_cores": 2, "system_gpu_count": 1,
          "n_expected_gpus": 1}
COUNTS = ["main_n_threads", "descendants_n_threads", "combined_n_threads"]
MEASURES = (["main_ram", "descendants_ram", "combined_ram", "system_ram", "main_gpu_ram", "descendants_gpu_ram",
             "combined_gpu_ram", "system_gpu_ram", "gpu_sum_utilization_percent", "gpu_hardware_utilization_percent"] + COUNTS +
            [f"cpu_{who}_{what}_utilization_percent" for who in ("system", "main", "descendants", "combined")
             for what in ("sum", "hardware")])
START = 1745449600.25


def rows(seed, count=12):
    """Returns one sample every 1.1 s; counts are whole, all other values have many decimals."""
    return [{**{name: (seed * 31 + i * 7 + k) % (8 + seed) + 1 if name in COUNTS else ((seed + 3) * (i + 1) * (k + 7) % 1013) / 97
                for k, name in enumerate(MEASURES)}, "timestamp": START + 1.1 * i} for i in range(count)]


def calls(line):
    """Returns (process, block, position, time): two processes, a block that one of them never closes, one without a
    sample.
    """
    block = f"work.py:{line}"
    found = [(7, block, 0, 0.5), (7, block, 1, 3.5), (7, block, 0, 6.0), (7, block, 1, 8.25), (8, block, 0, 3.0), (8, block, 1, 4.5),
             (8, block, 0, 9.0), (7, "load", 0, 0.1), (7, "load", 1, 5.0), (8, "brief", 0, 2.3), (8, "brief", 1, 2.4)]
    return [(pid, name, position, START + secs) for pid, name, position, secs in found]


def csv_line(values):
    return ",".join(map(str, values)) + "\r\n"


def write_files(folder, kind, name, seed, line):
    tracking, sub = folder / f"{name}.{kind}", folder / f"{name}-sub.{kind}"
    data, names = rows(seed), ["process_id", "code_block_name", "position", "timestamp"]
    if kind == "csv":
        tracking.write_text(csv_line(STATIC) + csv_line(STATIC.values()) + csv_line(data[0]) + "".join(csv_line(one.values()) for one in data), newline="")
        sub.write_text(csv_line(names) + "".join(map(csv_line, calls(line))), newline="")
        return tracking, sub
    for path, tables in ((tracking, {"static_data": [STATIC], "data": data}), (sub, {"data": [dict(zip(names, one)) for one in calls(line)]})):
        with sqlite3.connect(path) as connection:
            for table, content in tables.items():
                types = {str: "VARCHAR", int: "INTEGER", float: "FLOAT"}
                connection.execute(f"CREATE TABLE {table} ({','.join(f'{key} {types[type(value)]}' for key, value in content[0].items())})")
                connection.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(content[0]))})", [tuple(one.values()) for one in content])
        connection.close()
    return tracking, sub


# ---- the expected result, computed from gpu_tracker's rules ----


def describe(values, total=False):
    if not values:
        return {name: None for name in ("min", "max", "mean", "std")}
    found = {"min": min(values), "max": max(values), "mean": statistics.fmean(values), "std": statistics.pstdev(values)}
    return {**found, "total": sum(values)} if total else found


def analyse(seed, line):
    data = rows(seed)
    pairs = collections.defaultdict(list)
    for name in {one[1] for one in calls(line)}:
        for pid in (7, 8):
            marks = sorted((time, position) for other, block, position, time in calls(line) if (other, block) == (pid, name))
            if marks and marks[-1][1] == 0:
                marks.pop()
            pairs[name] += [(marks[i][0], marks[i + 1][0]) for i in range(0, len(marks), 2)]
    blocks = []
    for name in sorted(pairs):
        inside = [one for one in data if any(start <= one["timestamp"] <= stop for start, stop in pairs[name])]
        full = sum(any(start <= one["timestamp"] <= stop for one in data) for start, stop in pairs[name])
        blocks.append({"name": name, "num_timepoints": len(inside), "num_calls": len(pairs[name]), "num_non_empty_calls": full,
                       "compute_time": describe([stop - start for start, stop in pairs[name]], True),
                       "resource_usage": {one: describe([row[one] for row in inside]) for one in MEASURES}})
    return {"overall": {one: describe([row[one] for row in data]) for one in MEASURES}, "static_data": STATIC,
            "code_block_results": blocks}


def near(value, wanted):
    if isinstance(wanted, dict):
        assert list(value) == list(wanted)
        for key in wanted:
            near(value[key], wanted[key])
    elif isinstance(wanted, list):
        assert len(value) == len(wanted)
        for one, other in zip(value, wanted):
            near(one, other)
    elif isinstance(wanted, float):
        assert value == pytest.approx(wanted, rel=1e-11, abs=1e-9)
    else:
        assert value == wanted


def cell(value):
    return "NaN" if value is None else repr(round(float(value), 8))


def table(indent, labels, columns, body):
    """Labels on the left; columns on the right, at least one wider than their heading."""
    width = max(map(len, labels))
    widths = [max(len(name) + 1, *(len(line[i]) for line in body)) for i, name in enumerate(columns)]
    lines = [(" " * width, columns), *zip(labels, body)]
    return [indent + label.ljust(width) + "".join(" " + text.rjust(w) for text, w in zip(line, widths)) for label, line in lines]


def analysis_text(result):
    names = ["min", "max", "mean", "std"]

    def measures(indent, content):
        return table(indent, list(content), names, [[cell(one[name]) for name in names] for one in content.values()])

    shown = [cell(value) if isinstance(value, float) else f" {value}" for value in STATIC.values()]
    widths = [max(len(name), len(text)) for name, text in zip(STATIC, shown)]
    lines = ["Overall:", *measures("\t", result["overall"]), "Static Data:"]
    lines += ["\t" + "".join(" " + text.rjust(w) for text, w in zip(line, widths)) for line in (STATIC, shown)]
    lines.append("Code Block Results:")
    for block in result["code_block_results"]:
        labels = {"Name": "name", "Num Timepoints": "num_timepoints", "Num Calls": "num_calls", "Num Non Empty Calls": "num_non_empty_calls"}
        lines += [f"\t{label + ':':<20} {block[key]}" for label, key in labels.items()]
        secs = block["compute_time"]
        lines += ["\tCompute Time:", *table("\t\t", [""], list(secs), [[cell(value) for value in secs.values()]])]
        lines += ["\tResource Usage:", *measures("\t\t", block["resource_usage"]), ""]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", ["csv", "sqlite"])
def test_the_analysis_of_all_columns(run, tmp_path, kind):
    tracking, sub = write_files(tmp_path, kind, "one", 1, 9)
    files = ["--tracking-file", tracking, "--sub-tracking-file", sub]
    wanted = analyse(1, 9)
    assert [(one["name"], one["num_timepoints"], one["num_calls"], one["num_non_empty_calls"]) for one in wanted["code_block_results"]] == [
        ("brief", 0, 1, 0), ("load", 4, 1, 1), ("work.py:9", 6, 3, 3)]
    result = run("regions", "--json", *files)
    assert result.returncode == 0, result.err
    near(json.loads(result.out), wanted)
    assert run("regions", "--format", "gpu-tracker", *files).out == analysis_text(wanted)


@pytest.fixture
def analyses(run, tmp_path):
    """Returns b=..., a=...: analyses of runs in which the same block is on different lines."""
    words = []
    for name, seed, line in (("b", 1, 9), ("a", 2, 12), ("c", 5, 9)):
        tracking, sub = write_files(tmp_path, "csv", name, seed, line)
        run("regions", "--json", "-o", tmp_path / f"{name}.json", "--tracking-file", tracking, "--sub-tracking-file", sub)
        words.append(f"{name}={tmp_path / (name + '.json')}")
    return words


def compare(statistic):
    sides = {"a": analyse(2, 12), "b": analyse(1, 9), "c": analyse(5, 9)}

    def values(take):
        found = {name: take(side)[statistic] for name, side in sides.items()}
        return dict(sorted(found.items(), key=lambda one: (one[1] is None, one[1] or 0)))

    labels = ["brief", "load", "work.py:12 -> work.py:9"]
    return {"overall_resource_usage": {one: values(lambda side: side["overall"][one]) for one in MEASURES},
            "code_block_resource_usage": {one: {label: values(lambda side: side["code_block_results"][i]["resource_usage"][one])
                                                for i, label in enumerate(labels)} for one in MEASURES},
            "code_block_compute_time": {label: values(lambda side: side["code_block_results"][i]["compute_time"])
                                        for i, label in enumerate(labels)}}


def comparison_text(result):
    def one_row(indent, values):
        return table(indent, [""], list(values), [[cell(value) for value in values.values()]])

    def titled(name):
        return re.sub("(^|_)(.)", lambda found: (" " if found[1] else "") + found[2].upper(), name)

    lines = ["Overall Resource Usage:"]
    for name, values in result["overall_resource_usage"].items():
        lines += [f"\t{titled(name)}:", *one_row("\t\t", values)]
    lines.append("Code Block Resource Usage:")
    for name, blocks in result["code_block_resource_usage"].items():
        lines.append(f"\t{titled(name)}:")
        for label, values in blocks.items():
            lines += [f"\t\t{label}:", *one_row("\t\t\t", values)]
    lines.append("Code Block Compute Time:")
    for label, values in result["code_block_compute_time"].items():
        lines += [f"\t{label}:", *one_row("\t\t", values)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("statistic", ["min", "max", "mean", "std"])
def test_the_comparison_of_all_columns(run, analyses, statistic):
    result = run("compare-runs", "--stat", statistic, "--json", *analyses)
    assert result.returncode == 0 and result.err.count("\n") == 1 and "work.py:12 of a" in result.err
    near(json.loads(result.out), compare(statistic))
    assert run("compare-runs", "--stat", statistic, *analyses).out == comparison_text(compare(statistic))


def test_whole_numbers_of_gpu_tracker_stay_whole(run, tmp_path):
    for name, most in (("x", 15), ("y", 4)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"overall": {"main_n_threads": {"min": 1, "max": most, "mean": 2.5, "std": 0.5}},
                                                           "static_data": {}, "code_block_results": []}))
    words = [f"{name}={tmp_path / name}.json" for name in "xy"]
    assert run("compare-runs", "--stat", "max", *words).out == (
        "Overall Resource Usage:\n\tMain N Threads:\n\t\t  y   x\n\t\t  4  15\nCode Block Resource Usage:\nCode Block Compute Time:\n")
    assert json.loads(run("compare-runs", "--stat", "max", "--json", *words).out) == {
        "overall_resource_usage": {"main_n_threads": {"y": 4, "x": 15}}, "code_block_resource_usage": {}, "code_block_compute_time": {}}


def test_recordings_are_compared_the_same_way(run, tmp_path):
    slower = [dict(one, cpu=dict(one["cpu"], process_memory_mib=500.0)) for one in recordings.eight_samples()]
    words = [f"{name}={recordings.write(tmp_path / f'{name}.jsonl', samples)}"
             for name, samples in (("old", recordings.eight_samples()), ("new", slower))]
    found = json.loads(run("compare-runs", "--stat", "max", "--json", *words).out)
    assert found["overall_resource_usage"]["process_memory_mib"] == {"old": 175.0, "new": 500.0}


@pytest.mark.parametrize("change, part", [
    ({"code_block_results": []}, "they cannot be compared"),
    ({"code_block_results": [{"name": "other"}]}, "is not phase"),
    ({"overall": 7}, "b.json"),
])
def test_incomparable_recordings_get_one_line(run, tmp_path, change, part):
    one = {"overall": {}, "static_data": {}, "code_block_results": [{"name": "load"}]}
    for name, value in (("a", one), ("b", {**one, **change})):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    result = run("compare-runs", "--stat", "mean", tmp_path / "a.json", tmp_path / "b.json")
    assert result.returncode == 1 and result.err.count("\n") == 1 and part in result.err and not result.out


@pytest.mark.parametrize("arguments, status, part", [
    (["--stat", "median", "a.json", "b.json"], 2, "min, max, mean, std"), (["--stat", "mean", "a.json", "missing"], 1, "missing"),
    (["--stat", "mean", "s=a.json", "s=a.json"], 1, "twice"), (["--stat", "mean", "a.json"], 2, "two"),
    (["--stat", "mean", "--fail-if", "x>1", "a.json", "b.json"], 2, "together")])
def test_mistakes(run, tmp_path, arguments, status, part):
    (tmp_path / "a.json").write_text(json.dumps({"overall": {}, "static_data": {}, "code_block_results": []}))
    result = run("compare-runs", *arguments)
    assert result.returncode == status and part in result.err.splitlines()[0] and not result.out


# ---- the result of a tracker --------------------------------------------------------------------------------------

LABELS = {"max_ram": "Max RAM", "max_gpu_ram": "Max GPU RAM", "cpu_utilization": "CPU utilization", "gpu_utilization": "GPU utilization",
          "compute_time": "Compute time", "unit": "Unit", "system_capacity": "System capacity", "system": "System", "main": "Main",
          "descendants": "Descendants", "combined": "Combined", "total_rss": "Total RSS", "private_rss": "Private RSS",
          "shared_rss": "Shared RSS", "system_core_count": "System core count", "n_expected_cores": "Number of expected cores",
          "max_sum_percent": "Max sum percent", "max_hardware_percent": "Max hardware percent", "mean_sum_percent": "Mean sum percent",
          "mean_hardware_percent": "Mean hardware percent", "main_n_threads": "Main number of threads",
          "descendants_n_threads": "Descendants number of threads", "combined_n_threads": "Combined number of threads",
          "system_gpu_count": "System GPU count", "n_expected_gpus": "Number of expected GPUs", "gpu_percentages": "GPU percentages",
          "time": "Time"}
PERCENT = ["max_sum_percent", "max_hardware_percent", "mean_sum_percent", "mean_hardware_percent"]
RSS = ["total_rss", "private_rss", "shared_rss"]
WHO = ["main", "descendants", "combined"]
KEYS = {"max_ram": {"unit": 0, "system_capacity": 0, "system": 0, **{who: dict.fromkeys(RSS, 0) for who in WHO}},
        "max_gpu_ram": dict.fromkeys(["unit", "system_capacity", "system", *WHO], 0),
        "cpu_utilization": {"system_core_count": 0, "n_expected_cores": 0, **{who: dict.fromkeys(PERCENT, 0) for who in ["system", *WHO]},
                            **{f"{who}_n_threads": 0 for who in WHO}},
        "gpu_utilization": {"system_gpu_count": 0, "n_expected_gpus": 0, "gpu_percentages": dict.fromkeys(PERCENT, 0)},
        "compute_time": {"unit": 0, "time": 0}}


def same_keys(tree, keys):
    return list(tree) == list(keys) and all(not isinstance(keys[name], dict) or same_keys(tree[name], keys[name]) for name in keys)


def leaves(tree, *path):
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, *path, name)
        else:
            yield (*path, name), value


def result_text(tree, depth=0):
    lines = []
    for name, value in tree.items():
        head = "   " * depth + LABELS[name] + ":"
        if isinstance(value, dict):
            lines += [head, *result_text(value, depth + 1)]
        else:
            shown = "unknown" if value is None else repr(round(value, 3)) if isinstance(value, float) else value
            lines.append(f"{head} {shown}")
    return lines


@pytest.mark.parametrize("ram, gpu_ram, time, factors", [
    ("bytes", "kilobytes", "seconds", (1, 1e-3, 1)), ("kilobytes", "megabytes", "minutes", (1e-3, 1e-6, 1 / 60)),
    ("megabytes", "gigabytes", "hours", (1e-6, 1e-9, 1 / 3600)), ("terabytes", "bytes", "days", (1e-12, 1, 1 / 86400))])
def test_the_result_in_every_unit(run, tmp_path, ram, gpu_ram, time, factors):
    samples = recordings.eight_samples()
    for i, one in enumerate(samples):
        one["gpu"] = [{"uuid": f"GPU-{g}", "utilization_pct": 10.0 * i + g, "vram_total_bytes": 16 << 30, "vram_used_bytes": (i + 1) << 28}
                      for g in range(2)]
        one["totals"]["gpu_vram_mib"] = 512.0 * (i + 1)
        one["cpu"].update(process_gpu_vram_mib=100.0 * (i + 1), process_main_gpu_vram_mib=40.0 * (i + 1))
    path = recordings.write(tmp_path / "run.jsonl", samples)
    units = ["--ram-unit", ram, "--gpu-ram-unit", gpu_ram, "--time-unit", time, "--expected-cores", "3"]
    tree = json.loads(run("summary", "--layout", "gpu_tracker", "--json", *units, path).out)
    base = json.loads(run("summary", "--layout", "gpu_tracker", "--json", "--ram-unit", "bytes", "--gpu-ram-unit", "bytes", "--time-unit",
                          "seconds", "--expected-cores", "3", path).out)
    assert same_keys(tree, KEYS)
    assert run("summary", "--layout", "gpu_tracker", *units, path).out == "\n".join(result_text(tree)) + "\n"
    for (keys, value), (_, in_base) in zip(leaves(tree), leaves(base)):
        factor = {"max_ram": factors[0], "max_gpu_ram": factors[1], "compute_time": factors[2]}.get(keys[0], 1)
        if keys[-1] == "unit":
            assert value == {"max_ram": ram, "max_gpu_ram": gpu_ram, "compute_time": time}[keys[0]]
        else:
            assert value is None and in_base is None or value == pytest.approx(in_base * factor, rel=1e-12), keys
    mib = 1 << 20
    assert base["max_gpu_ram"] == {"unit": "bytes", "system_capacity": float(32 << 30), "system": 4096.0 * mib, "main": 320.0 * mib,
                                   "descendants": 480.0 * mib, "combined": 800.0 * mib}
    gpu = base["gpu_utilization"]
    assert (gpu["system_gpu_count"], gpu["n_expected_gpus"]) == (2, 2) and gpu["gpu_percentages"] == pytest.approx(
        {"max_sum_percent": 141.0, "max_hardware_percent": 70.5, "mean_sum_percent": 71.0, "mean_hardware_percent": 35.5})
    assert base["cpu_utilization"]["combined"]["mean_hardware_percent"] == 75.0 and base["compute_time"]["time"] == 8.0
