"""docs/from-*.md: every command in the column "here" works, and every option in it exists."""
import json
import pathlib
import re
import shlex

import pytest

import recordings

TOP = pathlib.Path(__file__).resolve().parents[2]
SUBCOMMANDS = ("show", "stats", "summary", "recommend", "report", "export", "regions", "compare-runs", "combine", "metrics", "mark")
# Values for the placeholders in the documents.
PLACES = {"CMD": "true", "COMMAND": "true", "FILE": "run.jsonl", "FILE...": "run.jsonl", "FILE.csv": "out.csv", "NAME=AGG": "top=max",
          "COLUMN": "process_cpu_usage", "N": "1", "SECS": "0.1", "TIME": "+0.1", "NAME": "load", "...": "sys_", "F": "tracking.csv",
          "G": "sub.csv", "STAT": "mean", "A=F.json": "a=analysis.json", "B=G.json": "b=analysis.json", "A.jsonl": "run.jsonl",
          "B.jsonl": "other.jsonl", "process_cpu_usage,...": "process_cpu_usage"}


def spans(text):
    return re.findall(r"`([^`]+)`", text)


def rows():
    for path in sorted((TOP / "docs").glob("from-*.md")):
        for line in path.read_text().splitlines():
            cells = line.strip("|").split("|") if line.startswith("| ") else []
            if len(cells) == 2 and cells[0].strip() not in ("there", "---"):
                yield path.name, cells[1]


def commands():
    for name, cell in rows():
        for span in spans(cell):
            words = shlex.split(span)
            if words and (words[0] == "resource-tracker" or words[0] in SUBCOMMANDS):
                yield name, words[1:] if words[0] == "resource-tracker" else words


@pytest.fixture
def files(run, tmp_path):
    """Writes the input files of the commands: a recording, gpu_tracker's pair of files, an analysis, a price list,
    CSV files.
    """
    recordings.write(tmp_path / "run.jsonl", recordings.eight_samples())
    recordings.write(tmp_path / "other.jsonl", recordings.eight_samples()[:6])
    (tmp_path / "tracking.csv").write_text("ram_unit\ngigabytes\nmain_ram,timestamp\n0.5,1.0\n0.75,2.0\n")
    (tmp_path / "sub.csv").write_text("process_id,code_block_name,position,timestamp\n7,load,0,0.5\n7,load,1,1.5\n")
    (tmp_path / "servers.csv").write_text("vendor_id,api_reference,vcpus,memory_mib,price_usd_per_hour\naws,x,8,65536,1\n")
    run("regions", "--json", "-o", "analysis.json", "--tracking-file", "tracking.csv", "--sub-tracking-file", "sub.csv")
    for layout in ("process", "system"):
        run("export", "--csv-layout", layout, "-f", "csv", "-o", f"{layout}.csv", "run.jsonl")


@pytest.mark.parametrize("document, words", [pytest.param(name, words, id=f"{name[5:-3]}: {' '.join(words)}") for name, words in commands()])
def test_each_command_works(run, files, tmp_path, document, words):
    words = [PLACES.get(word, word) for word in words]
    if words == ["export"]:
        words += ["-f", "gpu_tracker"]
    if words[0].startswith("-") and "--" not in words:
        words += ["--", "true"]
    if words[0] in SUBCOMMANDS and words[0] not in ("metrics", "mark", "compare-runs", "combine") and not {"run.jsonl", "tracking.csv"} & set(words):
        words.append("run.jsonl")
    if words == ["mark", "load"]:
        words.append("start")
    if words[0] == "report" and "-o" not in words:
        words += ["-o", "page.html"]
    result = run(*words)
    assert result.returncode == 0, (words, result.err)


def test_the_table_speaks_of_options_that_there_are(run):
    """Options also exist if the column names them without a command."""
    helps = run("--help=all").out + "".join(run(name, "--help").out for name in SUBCOMMANDS)
    for name, cell in rows():
        for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", " ".join(span for span in spans(cell))):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", helps), (name, option)


def test_there_is_something_to_test():
    assert len(list(commands())) > 20 and json.dumps([name for name, _ in rows()]).count("gpu-tracker") > 8
