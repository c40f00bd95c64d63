"""The Go module, the Rust crate, the R package and the example for Node, with their own tools where those are installed.

With BINDINGS=all (tools/ci-bindings) a missing tool fails, Go's race detector watches the tests, and valgrind those of the crate.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import clean_environment

TOP = pathlib.Path(__file__).resolve().parents[2]
GO, RUST = TOP / "bindings/go", TOP / "bindings/rust"
ALL = os.environ.get("BINDINGS") == "all"


@pytest.fixture(scope="module")
def build(binary):
    folder = pathlib.Path(binary).resolve().parent
    if not (folder / "libresource-tracker.so").exists() or not shutil.which("pkg-config"):
        pytest.skip("this build has no shared library, or the machine has no pkg-config")
    return folder


def need(*tools):
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing and not ALL:
        pytest.skip(f"not installed: {' '.join(missing)}")
    assert missing == []


@pytest.fixture
def call(build):
    """Runs a tool in a folder, with the library of this build, its own caches below this build, and no network."""
    def run(folder, *command, **variables):
        environment = dict(clean_environment(), PKG_CONFIG_PATH=str(build / "meson-uninstalled"), LD_LIBRARY_PATH=str(build),
                           CGO_CFLAGS=f"-I{TOP / 'include'}", GOCACHE=str(build / "go-cache"), GOPROXY="off", GOTOOLCHAIN="local",
                           GOFLAGS="-mod=mod -buildvcs=false", CARGO_TARGET_DIR=str(build / "cargo"), CARGO_NET_OFFLINE="true",
                           TRACKER=str(build / "resource-tracker"))
        environment.update(variables)
        done = subprocess.run([str(word) for word in command], cwd=folder, env=environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout
    return run


def check_example(printed, path):
    """The example prints its number of samples, and an unknown value with its reason unless a control group of its own counts it."""
    lines = path.read_text().splitlines()
    assert f"{len(lines)} samples are in {path}\n" in printed and "the sum is 18.3047" in printed
    end = json.loads(lines[-1])
    assert end["run_end"]["reason"] == "tracker_stopped" and end["job_name"] == "harmonic series"
    known = end["cpu"]["cgroup_usage_secs"] is not None
    assert re.search(r"cpu\.cgroup_usage_secs: " + (r"[\d.]+\n" if known else r"unknown \(\w.*\)\n"), printed), printed


@pytest.mark.slow
@pytest.mark.timeout(800)
def test_the_go_module(call, tmp_path):
    need("go", "gofmt", "cc")
    assert call(GO, "gofmt", "-l", ".") == ""
    call(GO, "go", "vet", "./...")
    call(GO, "go", "test", "-p", "2", *(["-race", "-count", "3"] if ALL else ["-count", "1"]), "./...")
    check_example(call(GO, "go", "run", "./example", tmp_path / "run.jsonl"), tmp_path / "run.jsonl")


@pytest.mark.slow
@pytest.mark.timeout(800)
def test_the_rust_crate(call, build, tmp_path):
    need("cargo", "cc", *(["cargo-clippy", "rustfmt", "valgrind"] if ALL else []))
    call(RUST, "cargo", "test", "-q", "-j", "2")
    check_example(call(RUST, "cargo", "run", "-q", "--example", "in_background", tmp_path / "run.jsonl"), tmp_path / "run.jsonl")
    if ALL:
        call(RUST, "rustfmt", "--check", "--edition", "2021", *sorted(RUST.rglob("*.rs")))
        call(RUST, "cargo", "clippy", "-q", "--all-targets", "--", "-D", "warnings")
        tests = [path for path in (build / "cargo/debug/deps").glob("tracker-*") if os.access(path, os.X_OK)]
        call(RUST, "valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite",
             max(tests, key=lambda path: path.stat().st_mtime))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_rust_program_can_carry_the_library(call, build, tmp_path):
    need("cargo", "cc", "ldd")
    call(RUST, "cargo", "build", "-q", "--example", "in_background", RESOURCE_TRACKER_STATIC="1", CARGO_TARGET_DIR=str(build / "cargo-static"))
    program = build / "cargo-static/debug/examples/in_background"
    assert "resource-tracker" not in call(tmp_path, "ldd", program)
    check_example(call(tmp_path, program, tmp_path / "run.jsonl"), tmp_path / "run.jsonl")


@pytest.mark.slow
def test_a_node_program_records_itself(call):
    need("node")
    printed = call(TOP, "node", "examples/node_stream.mjs")
    samples, user, most = re.search(r"(\d+) samples, ([\d.]+) s of user time, at most ([\d.]+) MiB", printed).groups()
    assert int(samples) >= 1 and float(user) > 0 and float(most) > 10


# ---- the declarations of the crate, which no compiler compares with the headers ----

RUST_TYPES = {"c_char": "char", "c_int": "int", "c_uint": "unsigned int", "c_double": "double", "usize": "size_t", "i64": "int64_t",
              "u32": "uint32_t", "bool": "bool"}


def c_type(text):
    """A type of the header without its name; an enumeration is an unsigned int, as for gcc and clang on Linux."""
    text = re.sub(r"\benum \w+\b", "unsigned int", text)
    text, stars = re.sub(r"\bstruct\b|\*", " ", text).split(), text.count("*")
    return " ".join(sorted(text)) + "*" * stars


def rust_type(text):
    stars = re.findall(r"\*(mut|const) ", text)
    name = re.sub(r"\*(mut|const) ", "", text)
    const = "const " if stars and stars[-1] == "const" else ""
    return c_type(const + RUST_TYPES.get(name, name)) + "*" * len(stars)


def headers():
    text = "".join((TOP / "include" / name).read_text() for name in ("resource_tracker_value.h", "resource_tracker.h"))
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def without_name(parameter):
    return re.sub(r"\w+$", "", parameter.strip()) if parameter.strip() != "void" else ""


def test_the_crate_declares_the_calls_of_the_headers():
    declared = {}
    for result, name, parameters in re.findall(r"^RT_API ([^;(]*?)(rt_\w+)\(([^;]*)\);", headers(), re.M):
        kinds = [c_type(without_name(one)) for one in parameters.split(",") if without_name(one)]
        declared[name] = (c_type(result) if result.strip() != "void" else "", kinds)
    calls = re.findall(r"pub fn (rt_\w+)\((.*?)\)(?: -> (.*?))?;", (RUST / "src/sys.rs").read_text())
    assert len(calls) > 15
    for name, parameters, result in calls:
        kinds = [rust_type(one.split(": ")[1]) for one in parameters.split(", ") if one]
        assert (rust_type(result) if result else "", kinds) == declared[name], name


def test_the_crate_has_the_members_of_the_structs():
    text = (RUST / "src/sys.rs").read_text()
    structs = re.findall(r"#\[repr\(C\)\]\n(?:#[^\n]*\n)?pub struct (\w+) \{(.*?)\n\}", text, re.S)
    assert [name for name, _ in structs] == ["rt_value", "rt_snapshot_entry", "rt_metric_info"]
    for name, body in structs:
        mine = []
        for member, kind in re.findall(r"pub (?:r#)?(\w+): (.*),", body):
            array = re.fullmatch(r"\[(\w+); (\d+)\]", kind)
            mine.append((member, rust_type(array.group(1)), array.group(2)) if array else (member, rust_type(kind), ""))
        theirs = re.search(rf"^struct {name} \{{(.*?)^\}};", headers(), re.M | re.S).group(1)
        found = re.findall(r"^\s*([^;]*?)(\w+)(?:\[(\d+)\])?;", theirs, re.M)
        assert mine == [(member, c_type(kind), size) for kind, member, size in found], name


def test_the_crate_has_the_version_of_the_project():
    """docs/RELEASING.md names both places."""
    version = re.search(r"version: '([^']+)'", (TOP / "meson.build").read_text()).group(1)
    assert f'\nversion = "{version}"\n' in (RUST / "Cargo.toml").read_text()


@pytest.mark.parametrize("folder, glob", [(GO, "*.go"), (RUST / "src", "*.rs")], ids=["go", "rust"])
def test_a_binding_stays_thin(folder, glob):
    assert sum(len(path.read_text().splitlines()) for path in folder.glob(glob) if not path.name.endswith("_test.go")) <= 400


def test_the_r_package_passes_its_check(build, tmp_path):
    """R CMD check --as-cran installs it, runs its tests and examples, and builds its vignette: half a minute."""
    if not ALL:
        pytest.skip("tools/ci-bindings checks the R package")
    need("R", "pandoc", "checkbashisms")
    done = subprocess.run([TOP / "tools/r-package", build], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=clean_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\[ FAIL 0 \| WARN 0 \| SKIP \d+ \| PASS [4-9]\d \]$", done.stdout, re.M), done.stdout
    # The examples of the documents, with the package that the check has installed.
    for page in ("docs/LANGUAGES.md", "docs/start/r.md"):
        for example in re.findall(r"^```r\n(.*?)^```", (TOP / page).read_text(), re.M | re.S):
            done = subprocess.run(["Rscript", "-e", example], cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  env=dict(clean_environment(), R_LIBS=str(build / "r/resourcetracker.Rcheck")))
            assert done.returncode == 0 and "peak memory" in done.stdout, (page, done.stdout[-1000:], done.stderr)
