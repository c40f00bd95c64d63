"""The headers of the libraries: for callers of other languages, and what they say of errors."""
import ctypes
import errno
import os
import pathlib
import re
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
HEADERS = [TOP / "include" / name for name in ("resource_tracker_value.h", "resource_tracker.h", "resource_tracker_analysis.h")]


def code_of(path):
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


@pytest.mark.parametrize("path", HEADERS, ids=lambda path: path.name)
def test_a_header_has_nothing_that_cgo_and_bindgen_cannot_say(path):
    code = code_of(path)
    assert not re.search(r"\bunion\b", code), "a union becomes an array of bytes"
    assert "..." not in code, "a call with any number of arguments cannot be made"
    assert not re.search(r"\w+\s*:\s*\d+\s*;", code), "a bit field has no address"
    assert not re.search(r"#define \w+\(", code), "a macro with arguments is no function"
    assert not re.search(r"\binline\b", code), "an inline function is in no library"
    for name, body in re.findall(r"enum (\w*)\s*\{(.*?)\}", code, re.S):
        words = [word.split("=")[0].strip() for word in body.split(",") if word.strip()]
        first = os.path.commonprefix([word + "_" for word in words])
        assert re.match(r"RT_[A-Z]+_", first), f"enum {name}: {words} have no prefix of their own"


def documented_errors():
    """(call, errno) for each "-EXXX" in the comment of a call."""
    for path in HEADERS:
        for comment, declarations in re.findall(r"/\*((?:(?!\*/).)*)\*/\n((?:(?:RT_API|typedef) [^;]*;\n)+)", path.read_text(), re.S):
            for call in re.findall(r"^RT_API (?:int|ssize_t) (rt_\w+)\(", declarations, re.M):
                for name in re.findall(r"-(E[A-Z0-9]+)\b", comment):
                    yield call, name


@pytest.mark.plain
def test_each_documented_error_has_a_text_of_its_own(run):
    build = pathlib.Path(run("--version").args[0]).parent
    library = build / "libresource-tracker.so"
    if not library.exists():
        pytest.skip("this build has no shared library")
    text = ctypes.CDLL(str(library)).rt_error_text
    text.restype, text.argtypes = ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_int]
    errors = sorted(set(documented_errors()))
    assert len(errors) > 60
    plain = [f"{call}: {name}" for call, name in errors
             if text(call.encode(), -getattr(errno, name)).decode() == os.strerror(getattr(errno, name))]
    # A missing file and a missing right need no other words than those of the C library.
    assert [one for one in plain if not one.endswith((": ENOENT", ": EACCES"))] == []


def functions():
    """(header, function) for each public function."""
    return [(path.name, name) for path in HEADERS for name in re.findall(r"^RT_API\b[^;(]*?\b(rt_\w+)\(", code_of(path), re.M)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man3")
    subprocess.run([TOP / "tools/make-man3", "1.2.3", folder, *HEADERS], check=True)
    listed = subprocess.run([TOP / "tools/make-man3", "--list", *HEADERS], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    assert sorted(listed) == sorted(path.name for path in folder.iterdir())
    return folder


def test_each_public_function_has_a_page(pages):
    assert len(functions()) > 120
    for header, name in functions():
        text = (pages / f"{name}.3").read_text()
        parts = dict(re.findall(r"^\.SH ([A-Z ]+)\n(.*?)(?=^\.SH |\Z)", text, re.S | re.M))
        for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "UNITS", "OWNERSHIP", "THREADS"):
            assert len(parts.get(part, "").split()) > 1, f"{name} has nothing under {part}"
        assert re.search(rf"\b{name}\b.* \\- \S", parts["NAME"]) and f"#include <{header}>" in parts["SYNOPSIS"]
        assert re.search(rf"\b{name}\(", parts["SYNOPSIS"]) and "*" not in parts["DESCRIPTION"][:2]
    # The errors are those of the comment, and a struct stands where a call takes it.
    assert ".B \\-EBUSY\na live recording has locked an output\n" in (pages / "rt_open.3").read_text()
    assert "struct rt_snapshot_entry {" in (pages / "rt_snapshot_each.3").read_text()
    assert "ERRORS" not in (pages / "rt_close.3").read_text()


@pytest.mark.parametrize("command", [["groff", "-ww", "-z", "-man", "-Tutf8"], ["mandoc", "-T", "lint", "-W", "warning"]],
                         ids=lambda command: command[0])
def test_pages_render_without_a_warning(pages, command):
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([*command, *sorted(pages.iterdir())], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert [line for line in done.stdout.splitlines() if "referenced manual not found" not in line] == []


@pytest.mark.plain
def test_a_program_that_links_both_libraries_has_one_of_each_symbol(run, tmp_path):
    build = pathlib.Path(run("--version").args[0]).parent
    if not (build / "libresource-tracker-analysis.so").exists():
        pytest.skip("this build has no analysis as a shared library")
    source = tmp_path / "both.c"
    source.write_text("#include <resource_tracker.h>\n#include <resource_tracker_analysis.h>\n#include <stdio.h>\n"
                      "int main(void)\n{\n\tstruct rt_problem problem = {\"\"};\n\tconst char *path = \"/nonexistent\";\n"
                      "\trt_summary *summary;\n\tint error = rt_summary_read(&path, 1, &summary, &problem);\n"
                      "\tputs(rt_error_text(\"rt_sample\", -16));\n\tputs(rt_version());\n\treturn error != -2;\n}\n")
    subprocess.run(["cc", source, "-I", TOP / "include", "-L", build, "-lresource-tracker", "-lresource-tracker-analysis", "-o",
                    tmp_path / "both"], check=True)
    done = subprocess.run([tmp_path / "both"], env={"LD_LIBRARY_PATH": str(build)}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("a background thread samples: call rt_stop() first\n")
