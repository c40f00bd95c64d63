"""Random command lines of all programs, for tools/fuzz-commands: options, environments, configuration files, spools.

Each harms no more than a folder of its own: jobs are `true` and `false`, servers are a port that nothing listens on, and
values hold no slash but in names that are listed here.
"""
import ctypes
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

NOWHERE = "http://127.0.0.1:9"
# A recorder of the machine, a follower and a sender go on until they are told to end.
LET_RUN_SECS, TELL_EVERY_SECS, MOST_END_SECS = 1.0, 0.5, 15
PR_SET_CHILD_SUBREAPER = 36
OPTION = re.compile(r"^ +(?:-(.), )?--([\w-]+)(\[=)?(?: ?([\w|=-]+))?(?:  |\]|$)", re.M)

# Values that an option may take, and others.
GOOD = {
    "TIME": ("0.05", "50ms", "1", "1m", "1.5h", "2d", "+1", "@1795262400", "2026-11-21T12:00:00"),
    "FILE": ("run.jsonl", "run.csv", "old.jsonl", "-", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/null", "/dev/full", "fifo",
             "%h-%p-%t-%r.jsonl", "run%u.jsonl.gz", "run.csv.gz", "a\nb", "a\x1b[31m", "page.html"),
    "DIR": ("folder", ".", "new"), "PID": ("1", "2"), "LIST": ("cpu*", "memory.used_mib,gpu", "*", "used", "0,1", "GPU-1"),
    "KEY=VALUE": ("K=V", "K=", "a=b=c"), "TEXT": ("x", "a" * 5000, "\x9b\x07"), "WORD": ("combined", "nvidia", "system"),
}
ODD = ("", "0", "-1", "1e9", "1e-9", "nan", "inf", "0x10", "9" * 30, "12:30", "2026-11-21T12:00:00+99:99", "2147483648",
       "9223372036854775808", "link", "%", "%%q", "x" * 300, "missing/run.jsonl", "..", "/dev/fd/9", ",,", "[", "=", "true", "--", "-",
       "missing", "start", "metrics", "--help")

# Options of resource-tracker-net, and what kind of value they take.
NET_OPTIONS = {"spool": "DIR", "from": "PID", "end-fd": "PID", "pid": "PID", "disposable": None, "report": None,
               "upload-deadline": "TIME", "root": "DIR", "no-warnings": None, "json": None, "python": None, "lines": None,
               "when-told": None, "vcpus": "PID", "memory-mib": "TIME", "gpus": "PID", "gpu-memory-mib": "PID", "limit": "PID",
               "vendor": "TEXT", "instance-type": "TEXT", "region": "TEXT", "filter": "KEY=VALUE"}
NET_COMMANDS = {"follow": ("spool", "from", "end-fd", "pid", "disposable", "report", "upload-deadline", "root", "no-warnings"),
                "upload": ("spool", "root", "json", "no-warnings"), "discover": ("root", "json", "python", "lines", "when-told"),
                "keeper": ("json", "vcpus", "memory-mib", "gpus", "gpu-memory-mib", "limit", "vendor", "filter"), "x": ("json",)}


def options(program):
    """(long name, letter or None, argument or None for a switch) of each option that --help lists."""
    text = subprocess.run([program, "--help=all"], capture_output=True, text=True, check=True).stdout
    found = [(name, letter or None, argument or None) for letter, name, _, argument in OPTION.findall(text)]
    assert len(found) > 40 and ("interval", "i", "TIME") in found, found
    return found


# Templates of outputs for the recording shell and for the plugin of Slurm, and commands that name their step.
TEMPLATES = ("", "off", "%n.jsonl", "folder/%n.%t.%p.jsonl", "new/%h/%n", "%t/x", "%%n", "%", "run.jsonl", "fifo", "link", "%j.%s.%r.jsonl", "run.jsonl.gz", "%u",
             "%r" * 300, "a" * 5000)
STEPS = (": resource-tracker-step align s%3D1; true", ": resource-tracker-step %0A%2F..%2F x", "# NEXTFLOW TASK: align (3)", "true")


class CommandLines:
    """Makes and runs command lines; `folder` is theirs."""

    def __init__(self, build, folder, seeds, mutate):
        self.options, self.build, self.folder = options(build / "resource-tracker"), build, folder
        self.seeds, self.mutate = seeds, mutate
        self.programs = folder / "bin"
        self.programs.mkdir()
        for name in ("true", "false"):
            (self.programs / name).symlink_to(shutil.which(name))
        self.makers = [self.recorder, self.recorder, self.recorder, self.mark, self.upload, self.net, self.helper,
                       self.shell, self.slurm]
        self.made = 0

    # ---- words -------------------------------------------------------------------------------------------------

    def spoil(self, chance, text):
        """Now and then another text; a slash comes from the lists alone."""
        if chance.random() < 0.95:
            return text
        spoiled = self.mutate(chance, text.encode("utf-8", "surrogateescape"))[:3000]
        return spoiled.replace(b"\0", b"").replace(b"/", b"").decode("utf-8", "surrogateescape")

    def value(self, chance, argument):
        good = GOOD.get(argument) or (argument or "1").split("|")
        return self.spoil(chance, chance.choice(good if chance.random() < 0.85 else ODD))

    def some_options(self, chance, most=6):
        words = []
        for _ in range(chance.randrange(most)):
            name, letter, argument = chance.choice(self.options)
            word = self.spoil(chance, f"--{name}" if not letter or chance.random() < 0.6 else f"-{letter}")
            if not argument:
                words.append(word)
            elif word.startswith("--") and chance.random() < 0.5:
                words.append(f"{word}={self.value(chance, argument)}")
            else:
                words += [word, self.value(chance, argument)]
        return words

    def environment(self, chance, token):
        environment = {
            "PATH": str(self.programs), "HOME": str(self.folder / "home"), "LC_ALL": "C.UTF-8", "TMPDIR": str(self.folder),
            "XDG_STATE_HOME": str(self.folder / "state"), "TRACKER_UPLOAD_DEADLINE": "0.3",
            "ASAN_OPTIONS": "exitcode=99:hard_rss_limit_mb=2048",
            "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99:print_stacktrace=1",
            **dict.fromkeys(("KEEPER_API_URL", "SENTINEL_API_URL", "AWS_ENDPOINT_URL_S3", "TRACKER_METADATA_URL"), NOWHERE),
        }
        for _ in range(chance.choice((0, 0, 1, 3))):
            name, _, argument = chance.choice(self.options)
            environment["TRACKER_" + name.upper().replace("-", "_")] = self.value(chance, argument)
        if token or chance.random() < 0.1:
            environment["SENTINEL_API_TOKEN"] = self.spoil(chance, "token")
        return environment

    def configuration(self, chance):
        lines = {"job": [], "tracker": []}
        for name, _, argument in self.options:
            if chance.random() < 0.15:
                table = "job" if argument == "TEXT" else "tracker"
                key = "interval_secs" if name == "interval" else name.replace("-", "_")
                value = chance.choice((self.value(chance, argument), 1, 0.5, True, [self.value(chance, argument)], -1, 2**63 - 1))
                lines[table].append(f"{key} = {json.dumps(value)}")
        text = "".join(f"[{table}]\n" + "\n".join(rows) + "\n" for table, rows in lines.items())
        return text.encode() if chance.random() < 0.5 else self.mutate(chance, text.encode())

    # ---- programs ----------------------------------------------------------------------------------------------

    def recorder(self, chance):
        words, job = self.some_options(chance), chance.random() < 0.95
        if chance.random() < 0.3:
            name = chance.choice(("resource-tracker.toml", "named.toml"))
            (self.work / name).write_bytes(self.configuration(chance))
            words += ["--config", name] if name == "named.toml" else []
        # Without the name of a job they would record the machine until they are ended.
        return "resource-tracker", words + (["--", chance.choice(("true", "false"))] if job else []), None

    def mark(self, chance):
        words = [self.value(chance, "TEXT"), self.value(chance, "start|stop")]
        for option, argument in (("--id", "TEXT"), ("--file", "FILE")):
            if chance.random() < 0.5:
                at = chance.choice((0, 2))
                words[at:at] = [option, self.value(chance, argument)]
        if chance.random() < 0.1:
            chance.shuffle(words)
        return "resource-tracker", ["mark", *words, *(["--json"] if chance.random() < 0.5 else [])], None

    def upload(self, chance):
        """A spool whose states, batches and recordings are damaged, for upload."""
        spool = self.work / "spool"
        spool.mkdir(mode=0o700)
        for number in range(chance.randrange(1, 4)):
            name, data = chance.choice(self.seeds)
            (self.work / name).write_bytes(self.mutate(chance, data))
            state = {"version": 1, "recording": str(self.work / name), "part": None, "of_run": None, "disposable": False, "begin": 0,
                     "offset": chance.choice((0, 0, 100, len(data))), "rows": 2, "rows_lost": 0, "cut": 2, "sent": chance.randrange(2),
                     "objects": 0, "payload": chance.choice(("{}", None)), "run_id": chance.choice((None, "r")),
                     "uri_prefix": chance.choice((None, "s3://b/p")), "ended": chance.random() < 0.5, "has_exit_code": False,
                     "failed": False, "exit_code": 0, "finished_at": 0, "finished": chance.random() < 0.2}
            for key in chance.sample(sorted(state), chance.choice((0, 0, 1, 2))):
                state[key] = chance.choice((None, 0, -1, 2**63, "x", "../" + "y" * 300, True, [], {}))
            text = json.dumps(state).encode()
            run = f"host-20261122T111111.00000{number}Z-4"
            (spool / f"{run}.state").write_bytes(text if chance.random() < 0.7 else self.mutate(chance, text))
            (spool / f"{run}.000001.csv.gz").write_bytes(self.mutate(chance, gzip.compress(b"timestamp\n1\n2\n")))
            if chance.random() < 0.3:
                (spool / f"1795262400{number}-5.spool").write_bytes(self.mutate(chance, data))
        operands = [chance.choice((".", "spool", *[name for name, _ in self.seeds[:3]], "missing"))] if chance.random() < 0.5 else []
        return "resource-tracker-net", ["upload", "--spool", "spool", *operands], None

    def net(self, chance):
        command = chance.choice(sorted(NET_COMMANDS))
        words = [command]
        for _ in range(chance.randrange(4)):
            name = chance.choice(NET_COMMANDS[command] if chance.random() < 0.95 else sorted(NET_OPTIONS))
            value = self.value(chance, NET_OPTIONS[name])
            words += [f"--{name}={value}"] if NET_OPTIONS[name] and chance.random() < 0.5 \
                else [f"--{name}", value] if NET_OPTIONS[name] else [f"--{name}"]
        (self.work / "run.jsonl").write_bytes(self.mutate(chance, self.seeds[0][1]))
        operands = {"follow": ["run.jsonl"], "upload": ["run.jsonl", "."], "discover": ["host", "cloud", "all"]}
        words += [chance.choice(operands.get(command, ["prices", "servers"]))]
        return "resource-tracker-net", words, None

    def helper(self, chance):
        """Its arguments, and what a recorder in another process is asked (remote_message.h)."""
        if chance.random() < 0.5:
            words = [chance.choice(("gpu", "exec", "record", "", "x")), *[self.value(chance, chance.choice(("PID", "FILE")))
                                                                          for _ in range(chance.randrange(4))]]
            return "resource-tracker-helper", words, None
        settings = b"interval\0" b"0.05\0" + b"".join(
            f"{name}\0{self.value(chance, argument)}\0".encode("utf-8", "surrogateescape")
            for name, _, argument in chance.sample(self.options, 2))
        stream = b""
        for what in [1] + [chance.randrange(-1, 9) for _ in range(chance.randrange(5))] + [7]:
            payload = settings if what == 1 else b"column" * chance.randrange(3)
            length = len(payload) if chance.random() < 0.95 else chance.choice((0, 1, 1 << 20, 1 << 62))
            stream += struct.pack("=qqqQ", what, chance.randrange(-2, 5), chance.choice((-1, 0, 1, 1 << 40)), length) + payload
        return "resource-tracker-helper", ["record"], stream if chance.random() < 0.7 else self.mutate(chance, stream)

    def shell(self, chance):
        """A step whose real shell is `true`, so that no text is ever run."""
        self.more = {"TRACKER_SHELL_REAL": str(self.programs / "true"), "TRACKER_SHELL_OUTPUT": self.template(chance),
                     "TRACKER_SHELL_STEP": self.spoil(chance, chance.choice(("", "1:0", f"{os.getpid()}:1", "-1:" + "9" * 30)))}
        step = self.spoil(chance, chance.choice(STEPS))
        (self.work / ".command.run").write_text(f"#!/bin/bash\n{step}\n", errors="surrogateescape")
        if chance.random() < 0.5:
            self.more["NXF_TASK_WORKDIR"] = chance.choice((str(self.work), "folder", "fifo", "x" * 5000))
        if chance.random() < 0.2:
            self.more |= {"GITHUB_JOB": self.value(chance, "TEXT"), "GITHUB_ACTION": self.value(chance, "TEXT")}
        words = [chance.choice(("-c", "-euo", "pipefail", "-O", "-", "--", "+x", "-lc")) for _ in range(chance.randrange(4))]
        return "src/shell/bash", [*words, step], None

    def slurm(self, chance):
        """slurmstepd of the tests, with the plugin."""
        words = [self.spoil(chance, chance.choice(("default=on", "default=off", "output=" + self.template(chance), "output=", "x",
                                                   f"recorder={self.build / 'resource-tracker'}", "recorder=missing")))
                 for _ in range(chance.randrange(4))]
        self.more = {"PWD": str(self.work), "SLURM_JOB_ID": self.value(chance, "PID"), "TRACKER_NVML_LIBRARY": "x"}
        return "tests/fakes/slurmstepd", [str(os.getuid()), str(os.getgid()), *words, "--", "true"], None

    def template(self, chance):
        return self.spoil(chance, chance.choice(TEMPLATES))

    # ---- running -----------------------------------------------------------------------------------------------

    def run(self, chance, bound):
        """(what was run, why it has failed or None)."""
        self.made += 1
        self.work = self.folder / f"work-{self.made}"
        self.work.mkdir()
        for name in ("folder", "old.jsonl"):
            (self.work / name).mkdir() if name == "folder" else (self.work / name).write_bytes(self.seeds[0][1])
        os.mkfifo(self.work / "fifo")
        (self.work / "link").symlink_to("missing")
        self.more = {}
        program, words, asked = chance.choice(self.makers)(chance)
        words = [word.replace("\0", "") for word in words]
        try:
            environment = self.environment(chance, program == "resource-tracker-net" and chance.random() < 0.9) | {
                name: value.replace("\0", "") for name, value in self.more.items()}
            return " ".join([program, *words]), self.trouble([str(self.build / program), *words], environment, asked, bound)
        finally:
            shutil.rmtree(self.work)

    def trouble(self, command, environment, asked, bound):
        here, there = socket.socketpair() if asked is not None else (None, None)
        with open(self.folder / "out", "w+b") as out:
            process = subprocess.Popen(command, stdin=there or subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.work,
                                       env=environment, preexec_fn=bound, start_new_session=True, errors="surrogateescape")
            if here:
                there.close()
                send(here, asked)
            told, status = wait(process)
            if here:
                here.close()
            out.seek(0)
            said = out.read(1 << 24)
        left = end_orphans()
        if left:
            return f"left processes that did not end {MOST_END_SECS} s after SIGTERM: {left}"
        if status is None:
            return f"did not end {MOST_END_SECS} s after SIGTERM"
        if (status < 0 and not (told and status == -signal.SIGTERM)) or status == 99 or b"Sanitizer" in said \
                or b"runtime error:" in said:
            return f"status {status}\n{said.decode(errors='replace')[-3000:]}"
        if any(byte < 32 and byte not in b"\n\t\r" or byte == 127 for byte in said):
            return f"control characters are printed\n{said[-2000:]!r}"
        return None


def send(connection, stream):
    """Bytes that do not fit into the socket are left."""
    connection.setblocking(False)
    try:
        connection.sendall(stream)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def adopt_orphans():
    """From now on, a follower that sends on after its recorder has ended is a child of this process."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def end_orphans():
    """Ends all children, and theirs: with --upload-deadline they would stay for hours. Returns those that SIGTERM did not end."""
    left, deadline = set(), time.monotonic() + MOST_END_SECS
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return sorted(left)
        if pid:
            continue
        late = time.monotonic() > deadline
        for child in pathlib.Path("/proc/self/task", str(os.getpid()), "children").read_text().split():
            if late:
                left.add(pathlib.Path("/proc", child, "cmdline").read_text(errors="replace").replace("\0", " "))
            os.kill(int(child), signal.SIGKILL if late else signal.SIGTERM)
        time.sleep(0.02)


def wait(process):
    """(whether it was told to end, its status); a status of None if that did not help. A follower takes the first SIGTERM for its job's."""
    told = False
    for secs in LET_RUN_SECS, *[TELL_EVERY_SECS] * int(MOST_END_SECS / TELL_EVERY_SECS):
        try:
            return told, process.wait(secs)
        except subprocess.TimeoutExpired:
            told = True
            process.terminate()
    process.kill()
    process.wait()
    return told, None

