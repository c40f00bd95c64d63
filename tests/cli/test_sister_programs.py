"""How the programs find each other: by variable, beside each other, and in an installation's folders."""
import errno
import json
import os
import shutil
import socket
import struct
import subprocess

import pytest

from conftest import BUILD, ROOTS

NET = "resource-tracker-net"
ANALYSIS = "resource-tracker-analysis"
needs_analysis = pytest.mark.skipif(not (BUILD / ANALYSIS).exists(), reason="the build has no analysis")


def script(path, text):
    """A program that prints its arguments, then `text`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho \"$*\"\necho '{text}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def installed(tmp_path, binary):
    """An installation with the recorder in bin and the others, as copies or scripts, in libexec/resource-tracker."""
    folder = tmp_path / "prefix" / "libexec" / "resource-tracker"
    folder.mkdir(parents=True)
    program = tmp_path / "prefix" / "bin" / "resource-tracker"
    program.parent.mkdir()
    shutil.copy(binary, program)
    return program, folder


@pytest.mark.parametrize("subcommand", ["upload", "discover"])
def test_a_subcommand_takes_the_program_in_its_variable(run, tmp_path, subcommand):
    program = script(tmp_path / "other", "it is me")
    result = run(subcommand, "word", env={"TRACKER_NET": str(program)})
    assert (result.returncode, result.out) == (0, f"{subcommand} word\nit is me\n")


def test_a_subcommand_takes_the_program_of_its_installation(run, installed):
    program, folder = installed
    script(folder / NET, "from libexec")
    result = run("discover", "host", program=program)
    assert (result.returncode, result.out) == (0, "discover host\nfrom libexec\n")
    script(program.parent / NET, "beside it")
    assert run("discover", "host", program=program).out == "discover host\nbeside it\n"


def test_a_folder_is_not_taken_for_a_program(run, installed):
    program, folder = installed
    (program.parent / NET).mkdir()
    script(folder / NET, "from libexec")
    assert run("discover", program=program).out == "discover\nfrom libexec\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of another user")
@pytest.mark.parametrize("owner", [0, 65534])
def test_the_bin_folder_of_a_python_environment_is_searched_unless_it_is_of_another_user(run, tmp_path, binary, owner):
    """pip puts the library into lib/pythonX/site-packages/NAME/lib, five folders below bin."""
    program = tmp_path / "lib/python3.11/site-packages/resource_tracker_native/lib/resource-tracker"
    program.parent.mkdir(parents=True)
    shutil.copy(binary, program)
    planted = script(tmp_path / "bin" / NET, "from bin")
    for path in (planted, planted.parent):
        os.chown(path, owner, owner)
    assert ("from bin" in run("discover", "host", program=program).out) == (owner == 0)


@needs_analysis
def test_the_analysis_asks_the_program_in_the_variable_and_in_its_installation(run, installed, tmp_path):
    program, folder = installed
    shutil.copy(BUILD / ANALYSIS, folder)
    run("-q", "-i", "0.1", "-o", "run.jsonl", "--", "sleep", "0.3")
    answer = json.dumps({"servers": [{"vendor_id": "aws", "api_reference": "t3.micro", "price_usd_per_hour": 0.01}]})
    net = tmp_path / "net"
    net.write_text(f"#!/bin/sh\necho '{answer}'\n")
    net.chmod(0o755)
    result = run("recommend", "--force", "--server", tmp_path / "run.jsonl", program=program, env={"TRACKER_NET": str(net)})
    assert "t3.micro" in result.out, result.out + result.err
    result = run("recommend", "--force", "--server", tmp_path / "run.jsonl", program=program)
    assert "resource-tracker-net" in result.out and "not installed" in result.out
    shutil.copy(net, folder / NET)
    assert "t3.micro" in run("recommend", "--force", "--server", tmp_path / "run.jsonl", program=program).out


@needs_analysis
@pytest.mark.skipif(not (BUILD / NET).exists(), reason="the build has no network")
def test_the_net_program_finds_the_recorder_of_its_installation(run, installed):
    program, folder = installed
    shutil.copy(BUILD / NET, folder)
    started = program.parent / "started"
    program.write_text(f"#!/bin/sh\n: >'{started}'\n")
    assert run("discover", "host", program=folder / NET).returncode == 0
    assert started.exists()


def test_a_program_beside_a_symbolic_link_is_not_run(run, installed, tmp_path):
    """Another user may write to the folder of a link: the folder of the program itself counts."""
    program, folder = installed
    script(folder / NET, "from libexec")
    link = tmp_path / "links" / "recorder"
    planted = [script(link.parent / name, "planted") for name in (NET, ANALYSIS, "resource-tracker-helper")]
    log = link.parent / "planted"
    for one in planted:
        one.write_text(f"#!/bin/sh\necho $0 >>'{log}'\n")
    link.symlink_to(program)
    assert run("discover", "host", program=link).out == "discover host\nfrom libexec\n"
    run("summary", "run.jsonl", program=link)
    # The recorder starts its helper for the GPUs of this machine.
    run("-i", "0.05", "--duration", "0.05", "--root", ROOTS / "hand-made-gpu-i915-6.2" / "t0", program=link)
    assert not log.exists(), log.read_text()


# ---- another version ----

# As in src/remote/remote_message.h: what, first, count, payload_bytes.
MESSAGE = struct.Struct("=qqqQ")
OPEN = 1


def test_a_helper_refuses_a_library_of_another_version(helpers):
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([BUILD / "resource-tracker-helper", "record"], stdin=theirs, stdout=theirs)
    theirs.close()
    with ours:
        ours.settimeout(20)
        ours.sendall(MESSAGE.pack(OPEN, 999999, 0, 0))
        what, first, _, length = MESSAGE.unpack(ours.recv(MESSAGE.size, socket.MSG_WAITALL))
        text = ours.recv(length, socket.MSG_WAITALL).decode()
    assert what == -errno.EPROTO and first != 999999
    assert text.startswith("resource-tracker-helper is of version ")
    assert process.wait(20) == 0


def test_gpus_of_a_helper_of_another_version_are_one_clear_warning(run, nvml, tmp_path):
    nvml.say("gpus 1")
    helper = tmp_path / "older-helper"
    # It does not know the recorder's memory, so it writes nothing there.
    helper.write_text("#!/bin/sh\nexit 2\n")
    helper.chmod(0o755)
    result = run("-o", "run.jsonl", "--", "true", env=nvml.env(TRACKER_HELPER=str(helper)))
    assert result.returncode == 0
    assert result.err == ("resource-tracker: GPUs are not recorded: the helper cannot be started: it is of another version; "
                          "install all programs from one package\n")
