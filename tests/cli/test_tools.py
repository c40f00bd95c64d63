"""The tools that judge everything must be able to report a failure."""
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

# Sanitisers see nothing of a tool.
pytestmark = pytest.mark.plain


def load(helpers, name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(helpers.top / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_every_kind_of_result_is_counted(helpers, tmp_path):
    (tmp_path / "meson.xml").write_text(
        "<testsuites><testsuite><testcase name='a'/><testcase name='b'><failure/></testcase></testsuite></testsuites>")
    (tmp_path / "test_x.xml").write_text(
        "<testsuites><testsuite><testcase name='c'><skipped/></testcase><testcase name='d'><error/></testcase>"
        "<testcase name='e'/></testsuite></testsuites>")
    assert load(helpers, "run-tests").count(tmp_path) == (2, 2, 1)


@pytest.mark.parametrize("body, status, closing", [
    ("def test_a(): pass\ndef test_b(): assert 0\n", 1, "1 passed, 1 failed"),
    ("def test_a(): pass\n", 0, "1 passed, 0 failed"),
    # In a checkout below /tmp, pytest looked into the folders of all other tests, and found a file system that hangs.
    ("import pathlib\ndef test_a(request): assert request.config.rootpath == pathlib.Path(__file__).parent\n", 0, "1 passed, 0 failed"),
    ("import no_such_module\n", 1, "0 passed, 1 failed"),
    ("import os\ndef test_a(): os._exit(0)\n", 1, "0 passed, 1 failed"),
])
def test_a_failure_reaches_the_closing_line(helpers, tmp_path, body, status, closing):
    (tmp_path / "resource-tracker").touch()
    (tmp_path / "test_it.py").write_text(body)
    done = subprocess.run([helpers.top / "tools" / "run-tests", tmp_path, tmp_path / "test_it.py"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (status, closing), done.stdout


FAILS_ONCE = """
import pathlib
def test_steady():
    with pathlib.Path(__file__).with_name("steady").open("a") as file:
        file.write("1")
def test_shaky():
    tried = pathlib.Path(__file__).with_name("tried")
    assert tried.exists() or tried.touch()
"""


def test_run_tests_names_a_test_that_failed_once(helpers, tmp_path):
    (tmp_path / "resource-tracker").touch()
    (tmp_path / "test_it.py").write_text(FAILS_ONCE)
    done = subprocess.run([helpers.top / "tools" / "run-tests", tmp_path, tmp_path / "test_it.py"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-2:] == ["failed once and passed alone: test_it::test_shaky", "2 passed, 0 failed"]
    # The others had their turn.
    assert (tmp_path / "steady").read_text() == "1"


def test_run_tests_names_a_test_that_failed(helpers, tmp_path):
    (tmp_path / "resource-tracker").touch()
    (tmp_path / "test_it.py").write_text("def test_steady(): pass\ndef test_wrong(): assert 0\n")
    done = subprocess.run([helpers.top / "tools" / "run-tests", tmp_path, tmp_path / "test_it.py"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.stdout.splitlines()[-2:] == ["failed: test_it::test_wrong", "1 passed, 1 failed"]


RETRIED = "failed once and passed alone: "


@pytest.mark.parametrize("jobs, said", [
    ({"test": (3144, 0, []), "lint": (1, 0, [])}, []),
    ({"test": (3144, 0, [RETRIED + "a::b[x, y]", RETRIED + "a::c", RETRIED + "a::d"]), "musl": (900, 0, [RETRIED + "a::e"])}, 0),
    ({"test": (3999, 0, [RETRIED + name for name in "abcd"])}, "failed: test: 4 tests needed a second try; of 3999, at most 3 may"),
    ({"musl": (900, 0, [RETRIED + "a", RETRIED + "b"])}, "failed: musl: 2 tests needed a second try; of 900, at most 1 may"),
    ({"test": (3144, 0, [RETRIED + "a::b"]), "musl": (900, 0, [RETRIED + "a::b"])},
     "failed: test and musl: a::b needed a second try in 2 jobs"),
    ({"test": (9, 1, ["failed: a::b"]), "lint": (0, 1, ["some words"])},
     ["failed: test: a::b", "failed: lint: the end of its log:", "    some words", "    0 passed, 1 failed"]),
    ({"browsers": (1, 0, ["browsers: COULD NOT RUN: Firefox: needs firefox-esr"])}, ["could not run: browsers: Firefox: needs firefox-esr"]),
])
def test_ci_names_tests_and_limits_second_tries(helpers, tmp_path, jobs, said):
    """`said`: all lines; the last line of a refusal; or 0: only the names."""
    for job, (passed, failed, lines) in jobs.items():
        (tmp_path / job).write_text("\n".join([*lines, f"{passed} passed, {failed} failed", ""]))
    (tmp_path / "summary").write_text("".join(f"==== {job}: {passed} passed, {failed} failed, 3 s\n"
                                              for job, (passed, failed, _) in jobs.items()))
    done = subprocess.run([helpers.top / "tools" / "ci-trouble", tmp_path], capture_output=True, text=True)
    printed = done.stdout.splitlines()
    assert done.returncode == isinstance(said, str) and not done.stderr, done
    assert printed[-1] == said if isinstance(said, str) else not said or printed == said
    names = [f"needed a second try: {job}: {line[len(RETRIED):]}" for job, (_, _, lines) in jobs.items() for line in lines
             if line.startswith(RETRIED)]
    assert printed[:len(names)] == names or isinstance(said, list)


def test_ci_says_why_a_test_failed(helpers, tmp_path):
    line = "_" * 20
    (tmp_path / "musl").write_text("\n".join([f"{line} test_x[a b] {line}", "    assert told == true", "E   assert 3 == 2", "___ test_y ___",
                                              "E   of another", f"{RETRIED}test_f::test_x[a b]", "5 passed, 0 failed", ""]))
    (tmp_path / "summary").write_text("==== musl: 5 passed, 0 failed, 3 s\n")
    done = subprocess.run([helpers.top / "tools" / "ci-trouble", tmp_path], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["needed a second try: musl: test_f::test_x[a b]", "why musl: test_f::test_x[a b]:",
                                        "    E   assert 3 == 2"]


def write_results(build, **states):
    """test_x in each named browser, and axe-core's test in Chromium, in two parts of a file."""
    (build / "results").mkdir()
    cases = [("test_axe_finds_no_violation[chromium]", "")] + [(f"test_x[{browser}]", state) for browser, state in states.items()]
    for number, (name, state) in enumerate(cases):
        (build / "results" / f"test_report_browser-{number}.xml").write_text(
            f"<testsuites><testcase classname='tests.cli.test_report_browser' name='{name}'>{state}</testcase></testsuites>")
    (build / "results" / "test_other.xml").write_text(
        "<testsuites><testcase classname='tests.cli.test_other' name='test_y[chromium]'><failure/></testcase></testsuites>")


@pytest.mark.parametrize("firefox, status, lines", [
    ("", 0, ["1 test passed, axe-core did not run", "1 passed, 0 failed"]),
    ("<failure message='no'/>", 1, ["failed: test_x[firefox]", "0 passed, 1 failed"]),
    ("<skipped message='needs firefox-esr'/>", 0, ["browsers: COULD NOT RUN: Firefox: needs firefox-esr", "1 passed, 0 failed"]),
])
def test_ci_says_which_browser_could_not_run(helpers, tmp_path, monkeypatch, capsys, firefox, status, lines):
    tool = load(helpers, "ci-browsers")
    by_day, by_night, ran = tmp_path / "day", tmp_path / "night", []
    for folder, states in (by_day, {"chromium": ""}), (by_night, {"firefox": firefox}):
        folder.mkdir()
        write_results(folder, **states)
    (by_night / "results" / "test_report_browser-0.xml").unlink()

    def run_tests(build, *options):
        ran.append(options)
        return tool.read_results(by_night if options == ("--night",) else build)

    monkeypatch.setattr(sys, "argv", ["ci-browsers", str(by_day)])
    monkeypatch.setattr(tool, "run_tests", run_tests)
    monkeypatch.setattr(tool, "limited", lambda *command: ran.append(command))
    monkeypatch.setattr(tool, "version_of", str.capitalize)
    assert tool.main() == status
    assert ran == [("--night",)] + [("tools/setup", "browsers"), (), ("--night",)] * ("skipped" in firefox)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "browsers: Chromium: 2 tests passed, axe-core found no violation"
    assert [line.removeprefix("browsers: Firefox-esr: ") for line in printed[1:]] == lines


SUDO = "" if os.geteuid() == 0 else "sudo "


@pytest.fixture
def setup_without_apt(helpers, tmp_path):
    """Runs tools/setup with a given table of needs, in an environment that cannot install packages."""

    def run(needs, manager="apt-get", **environment):
        tools = tmp_path / "tools"
        tools.mkdir()
        text = (helpers.top / "tools" / "setup").read_text()
        before, rest = text.split("NEEDS='\n", 1)
        (tools / "setup").write_text(before + "NEEDS='\n" + needs + rest[rest.index("'\n"):])
        for name in ("python", "install-command"):
            shutil.copy(helpers.top / "tools" / name, tools)
        bin_folder = tmp_path / "bin"
        bin_folder.mkdir()
        for name in ("dirname", "id", "sudo", "grep"):
            (bin_folder / name).symlink_to(shutil.which(name) or "/nonexistent")
        if manager != "apt-get":  # one of that name would be called
            (bin_folder / manager).symlink_to("/bin/false")
        return subprocess.run(["/bin/bash", tools / "setup", "test"], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, env={"PATH": str(bin_folder), **environment}, cwd=tmp_path)

    return run


def test_setup_prints_a_command_to_paste(setup_without_apt):
    done = setup_without_apt("build | cmd dirname | coreutils\nbuild | cmd no-such | one\ntest | file /no/* | two\n"
                             "build | hdr no/such.h | nice-to-have | optional\n")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"parts are left out without these packages; to have all of it: {SUDO}apt-get install nice-to-have",
        f"needed packages are missing: {SUDO}apt-get install one two"]


@pytest.mark.parametrize("manager, command", [("dnf", "dnf install jansson-devel glibc-devel two"), ("apk", "apk add jansson-dev musl-dev two"),
                                              ("zypper", "zypper install libjansson-dev libc6-dev two")])
def test_setup_names_the_packages_of_other_distributions(setup_without_apt, manager, command):
    done = setup_without_apt("build | hdr no/such.h | libjansson-dev\nbuild | hdr no/such.h | libc6-dev\nbuild | cmd no-such | two\n",
                             manager=manager)
    assert (done.returncode, done.stderr) == (1, f"needed packages are missing: {SUDO}{command}\n")


def test_setup_leaves_out_names_that_a_distribution_lacks(setup_without_apt):
    done = setup_without_apt("test | file /no/* | python3-swift\ntest | cmd no-such | two\ntest | pyhdr Nothing.h | python3-dev\n", manager="apk")
    assert (done.returncode, done.stderr.splitlines()) == (1, [
        f"needed packages are missing: {SUDO}apk add two python3-dev",
        "this system has no package of it, so install it by hand (Debian's name): python3-swift"])


@pytest.mark.parametrize("programs, said", [("doas", "doas "), ("doas sudo", "sudo "), ("", "sudo ")])
def test_an_ordinary_user_s_command_has_the_program_that_is_there(helpers, tmp_path, programs, said):
    for name in ("apk", *programs.split()):
        (tmp_path / name).symlink_to("/bin/false")
    done = subprocess.run(["/bin/sh"], input=f"id() {{ echo 1000; }}\n{(helpers.top / 'tools' / 'install-command').read_text()}",
                          capture_output=True, text=True, env={"PATH": str(tmp_path)}, check=True)
    assert done.stdout == f"{said}apk add\n"


@pytest.mark.parametrize("name", ["run", "test"])
def test_a_machine_without_make_names_the_command(helpers, tmp_path, name):
    (tmp_path / "bin").mkdir()
    for program in ("dirname", "id", "sh"):
        (tmp_path / "bin" / program).symlink_to(shutil.which(program))
    done = subprocess.run([helpers.top / name], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={"PATH": str(tmp_path / "bin")})
    assert (done.returncode, done.stderr) == (1, f"needed packages are missing: {SUDO}apt-get install bash make\n")


def test_a_machine_without_make_gets_it(helpers, tmp_path):
    """apt-get is asked for what is missing, and then make for the target."""
    folder, said = tmp_path / "bin", tmp_path / "said"
    folder.mkdir()
    for program in ("dirname", "id", "sh", "env", "bash", "cat", "chmod"):
        (folder / program).symlink_to(shutil.which(program))
    (folder / "sudo").write_text(f"#!{shutil.which('sh')}\nshift\nexec \"$@\"\n")
    (folder / "true").symlink_to(shutil.which("true"))
    (folder / "apt-get").write_text(f"""#!{shutil.which("sh")}
echo "apt-get $*" >>{said}
case $* in *install*make*) printf '#!{shutil.which("sh")}\\necho "make $*" >>{said}\\n' >{folder}/make; chmod +x {folder}/make ;; esac
""")
    for program in ("sudo", "apt-get"):
        (folder / program).chmod(0o755)
    subprocess.run([helpers.top / "test", "TESTS=--no-cli"], stdin=subprocess.DEVNULL, env={"PATH": str(folder)}, check=True)
    assert said.read_text().splitlines() == ["apt-get -q update", "apt-get -q install -y --no-install-recommends make",
                                             "make test TESTS=--no-cli"]


def test_setup_goes_on_without_optional_packages(setup_without_apt):
    done = setup_without_apt("build | hdr no/such.h | nice-to-have | optional\nlint | cmd no-such | other\n")
    assert done.returncode == 0
    assert f"{SUDO}apt-get install nice-to-have" in done.stderr and "other" not in done.stderr


@pytest.mark.parametrize("distribution, sources, hinted", [
    ("ID=ubuntu", "deb http://x noble main\n# deb http://x noble universe\n", True),
    ("ID=ubuntu", "deb http://x noble main universe\n", False),
    ("ID=debian", "deb http://x trixie main\n", False),
])
def test_setup_hints_at_universe_on_ubuntu(setup_without_apt, tmp_path, distribution, sources, hinted):
    (tmp_path / "os-release").write_text(distribution + "\n")
    (tmp_path / "apt").mkdir()
    (tmp_path / "apt" / "sources.list").write_text(sources)
    done = setup_without_apt("build | cmd no-such | one\n", OS_RELEASE=str(tmp_path / "os-release"),
                             APT_SOURCES=str(tmp_path / "apt"))
    assert ("add-apt-repository universe" in done.stderr) == hinted


def test_setup_is_quick_when_all_is_there(setup_without_apt):
    done = setup_without_apt("build | hdr stdio.h | libc6-dev\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not os.path.exists("/bin/true"), reason="no /bin/true")
def test_check_binary_refuses_a_program_above_the_limit(helpers):
    tool = helpers.top / "tools" / "check-binary"
    done = subprocess.run([tool, "/bin/true", "dynamic", "0"], capture_output=True, text=True)
    assert done.returncode == 1 and "FAILED: " in done.stdout


# ---- rows of CI ----

def rows_of(helpers, when):
    return subprocess.run([helpers.top / "tools" / "ci-matrix-rows", when], capture_output=True, text=True, check=True).stdout.split()


def test_each_row_of_the_matrix_runs_daily_or_at_night(helpers):
    named = re.findall(r"^([a-z0-9]+) *\|", (helpers.top / "tools" / "ci-matrix").read_text(), re.M)
    assert rows_of(helpers, "daily") + rows_of(helpers, "nightly") == named and "asan" in rows_of(helpers, "daily")


@pytest.fixture
def rows(helpers, tmp_path):
    """rows(SCRIPT) runs rows of CI in a folder of their own, and returns the finished process."""
    (tmp_path / "tools").mkdir()
    for name in ("ci-rows", "ci-trouble", "ci-ahead"):
        shutil.copy(helpers.top / "tools" / name, tmp_path / "tools")
    return lambda script: subprocess.run(["bash", "-c", f". tools/ci-rows; begin_rows 1000\n{script}\nend_rows"], cwd=tmp_path,
                                         capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("command, counted, status", [
    ("echo 3 passed, 0 failed", "3 passed, 0 failed", 0), ("echo 3 passed, 1 failed; exit 1", "3 passed, 1 failed", 1), ("true", "1 passed, 0 failed", 0),
    ("exit 7", "0 passed, 1 failed", 1), ("echo 3 passed, 0 failed; exit 1", "3 passed, 1 failed", 1),
    ("echo x: COULD NOT RUN: no network; echo 3 passed, 0 failed", "3 passed, 1 failed", 1)])
def test_a_row_is_counted_by_its_closing_line_and_parts_that_could_not_run(rows, command, counted, status):
    done = rows(f"row one bash -c '{command}'")
    assert (done.stdout.splitlines()[-1], done.returncode) == (counted, status), done.stdout
    assert f"==== one: {counted}, " in done.stdout
    assert ("could not run: one: no network" in done.stdout) == ("COULD NOT RUN" in command)


def test_a_row_that_has_no_time_left_counts_as_failed(rows):
    done = rows("row one true\nlongest=0\nrow two true")
    assert done.stdout.splitlines()[-1] == "1 passed, 2 failed" and "could not run: two: " in done.stdout


@pytest.mark.parametrize("whole, closing", [("touch $ahead/valgrind.whole", "3 passed, 1 failed"), ("true", "1 passed, 0 failed")])
def test_a_row_that_was_done_ahead_as_a_whole_has_the_result_of_then(rows, whole, closing):
    done = rows(f"mkdir -p $ahead; echo 3 passed, 1 failed >$ahead/valgrind.log; echo 1 >$ahead/valgrind.status; {whole}\nrow valgrind true")
    assert done.stdout.splitlines()[-1] == closing, done.stdout


# ---- targets ----

@pytest.mark.parametrize("target", ["runnable", "product", "wheel"])
def test_make_run_builds_no_tests(binary, target):
    build = os.path.dirname(os.path.abspath(binary))
    if not os.path.exists(os.path.join(build, "build.ninja")):
        pytest.skip("not a build folder")
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", target], capture_output=True, text=True, check=True)
    outputs = " ".join(re.findall(r" -o (\S+)", commands.stdout))
    assert "resource-tracker" in outputs
    assert not [part for part in ("tests/", "bench/", "examples/") if part in outputs]
    assert ("man/" in commands.stdout) <= (target == "product")
    assert ("libresource-tracker.so" in commands.stdout) == (target != "runnable" and "libresource-tracker.so" in
                                                             open(os.path.join(build, "build.ninja")).read())


def test_a_default_build_has_no_debug_data(binary):
    options = os.path.join(os.path.dirname(os.path.abspath(binary)), "meson-info", "intro-buildoptions.json")
    if not os.path.exists(options):
        pytest.skip("not a build folder")
    with open(options) as file:
        set_to = {option["name"]: option["value"] for option in json.load(file)}
    if set_to["debug"]:
        pytest.skip("this build was configured to keep debug data")
    sections = subprocess.run(["readelf", "-S", binary], capture_output=True, text=True, check=True).stdout
    assert ".debug_info" not in sections


# ---- the page of the report ----

@pytest.fixture
def make_page(helpers, tmp_path):
    """tools/report-page in a copy of tools, whose registry is a port of this machine without a server."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("report-page", "npm-package"):
        text = (helpers.top / "tools" / name).read_text().replace("https://registry.npmjs.org", "http://127.0.0.1:9")
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)

    def run(*words, **environment):
        # Without npm in PATH, which would go to a registry of its own.
        return subprocess.run([sys.executable, tools / "report-page", tmp_path / "page.c", "uplot@1.6.32", "sum",
                               helpers.top / "src" / "report" / "page", *words],
                              capture_output=True, text=True, env={"PATH": "/nonexistent", **environment})

    return run


def test_report_page_without_a_registry_says_how_to_cure_it(make_page, tmp_path):
    done = make_page()
    assert done.returncode == 0
    line, = done.stderr.splitlines()
    assert line.startswith("WARNING: the HTML report is left out: uplot@1.6.32 cannot be had from the npm registry: ")
    assert "run make again" in line and "-Doffline=true" in line
    assert (tmp_path / "page.c.problem").read_text().strip() == line
    assert "REPORT_PAGE" in (tmp_path / "page.c").read_text()


def test_report_page_refuses_a_figure_that_the_table_lacks(helpers, tmp_path):
    source = helpers.top / "src"
    (tmp_path / "report").mkdir()
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "run_figures.def").write_text((source / "figures" / "run_figures.def").read_text())
    page = shutil.copytree(source / "report" / "page", tmp_path / "report" / "page")
    layout = (page / "layout.json").read_text()
    (page / "layout.json").write_text(layout.replace('"limit_mib"', '"limit_of_memory"'))
    done = subprocess.run([sys.executable, helpers.top / "tools" / "report-page", tmp_path / "page.c", "uplot@1.6.32", "sum", page, "--offline"],
                          capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.endswith("layout.json: memory.limit: run_figures.def has no figure memory.limit_of_memory\n")


def test_report_page_leaves_the_line_to_tools_build(make_page, tmp_path):
    assert make_page(PROBLEM_AT_THE_END="1").stderr == ""
    assert (tmp_path / "page.c.problem").read_text().startswith("WARNING: ")


def test_report_page_offline_names_the_missing_part(make_page):
    done = make_page("--offline")
    assert done.returncode == 0
    assert done.stderr == "WARNING: -Doffline=true leaves the HTML report out: uplot@1.6.32 is not in build-npm\n"


def test_report_page_offline_uses_the_copy_that_is_there(make_page, tmp_path):
    dist = tmp_path / "build-npm" / "uplot-1.6.32" / "dist"
    dist.mkdir(parents=True)
    (dist / "uPlot.iife.min.js").write_text("var uPlot = 1;")
    (dist / "uPlot.min.css").write_text("")
    done = make_page("--offline")
    assert (done.returncode, done.stderr, (tmp_path / "page.c.problem").read_text()) == (0, "", "")


def test_build_tries_uplot_again(helpers, tmp_path):
    """Runs tools/build in a configured folder, with a ninja that notes its targets."""
    page = tmp_path / "build" / "src" / "report" / "report_page.c"
    page.parent.mkdir(parents=True)
    page.touch()
    (tmp_path / "build" / "build.ninja").touch()
    (tmp_path / "build" / "setup-arguments").write_text("\n")
    ninja = tmp_path / "ninja"
    ninja.write_text(f"#!/bin/sh\n[ -e {page} ] && echo 'no work to do' || touch {page}\n")
    ninja.chmod(0o755)
    environment = {**helpers.clean_environment(), "PATH": f"{tmp_path}:{os.environ['PATH']}"}

    def build():
        return subprocess.run([helpers.top / "tools" / "build", tmp_path / "build"], capture_output=True, text=True,
                              env=environment)

    old = page.stat().st_ino
    assert (build().stderr, page.stat().st_ino) == ("", old)
    problem = page.with_name(page.name + ".problem")
    problem.write_text("WARNING: left out. To do without it: -Doffline=true.\n")
    page.write_text("old")
    done = build()
    assert (done.returncode, done.stderr, page.read_text()) == (0, "WARNING: left out. To do without it: -Doffline=true.\n", "")
    problem.write_text("WARNING: -Doffline=true leaves it out\n")
    page.write_text("old")
    assert (build().stderr.count("offline"), page.read_text()) == (1, "old")


def test_the_abi_check_tells_a_break_from_an_addition(helpers):
    if not shutil.which("abidiff"):
        pytest.skip("abidiff is not installed")
    subprocess.run([helpers.top / "tools" / "check-abi", "--self-test"], check=True)


def test_the_abi_check_says_that_no_release_exists(helpers, tmp_path):
    shutil.copytree(helpers.top / "tools", tmp_path / "tools")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    done = subprocess.run([tmp_path / "tools" / "check-abi", tmp_path / "abi"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("check-abi: there is no tag")
    assert len(done.stdout.splitlines()) == 1


def test_make_pictures_draws_a_terminal(helpers, tmp_path):
    """Colours become colours, columns stay where they were, and nothing of the text is markup."""
    text = "CPU     \\033[1;31m<b>full</b>\\033[0m  \\342\\226\\201\\342\\226\\210\\n\\n  second line\\n"
    subprocess.run([helpers.top / "tools" / "make-pictures", "--text", tmp_path / "out.svg", "printf", text], check=True)
    rows = [(one.get("x"), one.get("y"), one.get("fill"), one.get("font-weight"), one.text)
            for one in ElementTree.parse(tmp_path / "out.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert [row[1:] for row in rows] == [("29", "#e8ebee", "400", "CPU"), ("29", "#ff8a80", "700", "<b>full</b>"),
                                         ("29", "#e8ebee", "400", "\u2581\u2588"), ("65", "#e8ebee", "400", "second line")]
    assert [round((float(row[0]) - 16) / 7.83) for row in rows] == [0, 8, 21, 2]


@pytest.mark.parametrize("build, words, passed, skipped, failed", [
    ("without", "built without the HTML report, because uPlot could not be downloaded", 0, 2, 0),
    ("with", "built without the HTML report, because uPlot could not be downloaded", 0, 0, 2),
    ("without", "page.html: No space left on device", 0, 1, 1),
], ids=["the page is missing", "the page is there", "another failure"])
def test_tests_of_the_report_are_skipped_only_in_a_build_without_it(helpers, tmp_path, build, words, passed, skipped, failed):
    """One test sees the program's words, and one is marked because it cannot."""
    folder, tests = tmp_path / "build", tmp_path / "tests"
    (folder / "src" / "report").mkdir(parents=True)
    (folder / "src" / "report" / "report_page.c.problem").write_text("WARNING" if build == "without" else "")
    program = folder / "resource-tracker"
    program.write_text(f"#!/bin/sh\necho 'resource-tracker report: {words}' >&2\nexit 1\n")
    program.chmod(0o755)
    tests.mkdir()
    (tests / "conftest.py").symlink_to(helpers.top / "tests" / "cli" / "conftest.py")
    (tests / "test_page.py").write_text("import pytest\n\n\ndef test_words(run):\n    assert run('report').returncode == 0\n\n\n"
                                        "@pytest.mark.report\ndef test_marked():\n    assert False\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", tests], cwd=tests, text=True,
                          capture_output=True, env=dict(os.environ, RESOURCE_TRACKER=str(program)))
    counted = re.findall(r"(\d+) (passed|skipped|failed)", done.stdout.splitlines()[-1])
    assert {word: int(count) for count, word in counted} == {
        word: count for word, count in (("passed", passed), ("skipped", skipped), ("failed", failed)) if count}, done.stdout
    assert ("this build has no HTML report" in done.stdout) == bool(skipped)


def engine_row(monkeypatch, helpers, path, *row, **limit):
    monkeypatch.syspath_prepend(str(helpers.top / "bench"))
    monkeypatch.setenv("ENGINES_TABLE", str(path))
    return importlib.import_module("engine_rows").keep_row(*row, **limit)


def test_the_engines_table_marks_figures_out_of_their_limits(helpers, tmp_path, monkeypatch):
    """A difference is that from the engine, or from the job where the engine has no figure."""
    path = tmp_path / "table.jsonl"
    for row, limit, within in (
            (("slurm", "CPU, s", 8.7114, 8.711), {"least": 8.62, "most": 8.80}, True),
            (("slurm", "end", "exit 7", "FAILED"), {"wanted": "exit 7"}, True),
            (("make", "peak, MiB", 61.0, "60 MB", 50), {"least": 50, "most": 60}, False),
            (("make", "CPU, s", None, 1.0), {"least": 0.9, "most": 1.1}, False),
            (("kube-apiserver", "wrong amount", None, 201), {"wanted": 400, "judged": 201}, False)):
        assert engine_row(monkeypatch, helpers, path, *row, **limit) == within
    done = subprocess.run([helpers.top / "tools" / "engines-table", path], capture_output=True, text=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1] == ["slurm", "CPU,", "s", "8.711", "8.711", "+0.000", "-0.091", "to", "+0.089", "within"]
    assert lines[2] == ["slurm", "end", "exit", "7", "FAILED", "is", "exit", "7", "within"]
    assert ["make", "peak,", "MiB", "61.000", "60", "MB", "50", "+11.000", "+0.000", "to", "+10.000", "OUT"] in lines
    assert ["make", "CPU,", "s", "1.000", "-0.100", "to", "+0.100", "OUT"] in lines
    assert ["kube-apiserver", "wrong", "amount", "201", "is", "400", "OUT"] in lines
    assert done.returncode == 1 and lines[-2][:3] == ["2", "of", "5"] and not done.stderr


@pytest.mark.parametrize("options, status", [((), 0), (("--all",), 1)])
def test_the_engines_table_names_engines_that_did_not_run(helpers, tmp_path, monkeypatch, options, status):
    path = tmp_path / "table.jsonl"
    assert engine_row(monkeypatch, helpers, path, "slurm", "CPU, s", 8.7, 8.7, least=8.6, most=8.8)
    done = subprocess.run([helpers.top / "tools" / "engines-table", path, *options], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert lines[3].startswith("make ") and "could not run here" in lines[3] and lines[-1].startswith("1 of ")
    assert done.returncode == status


def test_parts_of_ci_are_begun_in_the_order_of_their_rows(helpers):
    """A row waits for its part, so a part in the wrong place would hold up the rows before it. "toml" has none: it builds nothing."""
    parts = re.findall(r"^(\w+) +\| +\d+ \|", (helpers.top / "tools" / "ci-ahead").read_text(), re.M)
    assert parts == ["lint", *(name for name in rows_of(helpers, "daily") if name != "toml")]