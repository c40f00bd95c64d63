"""Shared by the tests of the page of `report`: make() writes pages, drive() looks at them in a real browser."""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

import recordings

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "fakes"))
import varints  # noqa: E402
from without_report import REASON, report_is_missing  # noqa: E402

PACKAGES = json.loads((TOP / "tests" / "browser" / "packages.json").read_text())
BROWSERS = {"chromium": "chromium", "firefox": "firefox-esr"}
# `make test` has Chromium alone, and the basics of a page. The row `browsers` of .ci/run has the rest and Firefox.
both_browsers = pytest.mark.parametrize("browser", [pytest.param(name, marks=[pytest.mark.night] * (name != "chromium")) for name in BROWSERS])
HOSTILE = "</script><img src=x onerror=alert(1)><!--"
WHOLE = "0:00.0 \u2013 0:08.0"


def npm_package(name):
    found = subprocess.run([TOP / "tools" / "npm-package", *PACKAGES[name]], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(REASON if report_is_missing() else found.stderr.strip())
    return found.stdout.strip()


@pytest.fixture(scope="session")
def driver():
    """tests/browser/page.mjs, which starts each browser once."""
    if not shutil.which("node"):
        pytest.skip("needs node")
    # The browser makes a socket in there, and its path may have at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="rt-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        environment = dict(os.environ, TMPDIR=folder, HOME=folder)
        words = ["node", TOP / "tests" / "browser" / "page.mjs", npm_package("playwright-core"),
                 *filter(None, [os.environ.get("SCREENSHOTS")])]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process:
            yield process
            process.stdin.close()
            process.wait(timeout=60)


@pytest.fixture
def make(run, tmp_path):
    """make(samples, ..., options=[]) returns the path of the page of these runs."""

    def make_page(*runs, options=()):
        paths = [recordings.write(tmp_path / f"run{i}.jsonl", samples) for i, samples in enumerate(runs)]
        result = run("report", "-o", tmp_path / "page.html", *options, *paths)
        assert (result.returncode, result.out, result.err) == (0, "", "")
        return tmp_path / "page.html"

    return make_page


@pytest.fixture
def drive(driver):
    """drive(page, scenario) returns what the browser saw. The console stayed empty, and only the page was requested."""

    def look(page, scenario, browser="chromium", **more):
        if not shutil.which(BROWSERS[browser]):
            pytest.skip(f"needs {BROWSERS[browser]}")
        request = {"browser": browser, "executable": shutil.which(BROWSERS[browser]), "page": str(page), "scenario": scenario}
        driver.stdin.write(json.dumps({**request, **more}) + "\n")
        driver.stdin.flush()
        seen = json.loads(driver.stdout.readline())
        if browser == "firefox" and "): unknown command" in seen.get("error", ""):
            pytest.skip("this Firefox lacks a command that the driver needs: " + seen["error"].splitlines()[0])
        assert "error" not in seen, seen["error"]
        assert seen["problems"] == []
        assert [one for one in seen["requests"] if not one.startswith(("file:", "data:", "blob:"))] == []
        return seen

    return look


def data_of(page):
    text = page.read_text()
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))


def unpack(column):
    """Reads the columns of src/report/series.h with independent code."""
    packed = base64.b64decode(column["data"])
    values, at, last = [], 0, 0
    while at < len(packed):
        token, at = varints.take_varint(packed, at)
        count = 1
        if token > 1:
            last += (token - 1) // 2 if token % 2 else -(token // 2)
        else:
            count, at = varints.take_varint(packed, at)
        values += [None if token == 0 else last / 10 ** column["decimals"]] * count
    return values
