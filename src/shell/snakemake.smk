# Records each step of a workflow under the name of its rule. In a Snakefile:
#
#     include: "/usr/local/libexec/resource-tracker/shell/snakemake.smk"
#
# The shell beside this file records. Recordings go to .resource-tracker of the workflow's folder, unless TRACKER_SHELL_OUTPUT
# says otherwise, also those of shadow rules. Names need Snakemake 9; earlier versions record without them.
import inspect
import os
from urllib.parse import quote

from snakemake.shell import shell

MOST_BYTES = 60000  # of a command. A longer one would lose its name: Snakemake makes a file of it at 64 KB.
os.environ.setdefault("TRACKER_SHELL_OUTPUT", os.path.join(os.getcwd().replace("%", "%%"), ".resource-tracker", "%n.%t.%p.jsonl"))
shell.executable(os.path.join(os.path.dirname(os.path.realpath(inspect.currentframe().f_code.co_filename)), "bash"))


def _attempt():
    """The attempt of the job that is running, which only Snakemake's own functions know."""
    frame = inspect.currentframe()
    while frame:
        attempt = getattr(frame.f_locals.get("job"), "attempt", None)
        if isinstance(attempt, int):
            return attempt
        frame = frame.f_back
    return None


def _request(context):
    resources = context.get("resources") or {}
    memory = resources.get("mem_mib")
    if not isinstance(memory, int):
        memory = resources.get("mem_mb")
        memory = memory * 10**6 / 2**20 if isinstance(memory, int) else None
    asked = {"cores": context.get("threads"), "memory_mib": memory, "attempt": _attempt()}
    return "".join(f" {key}={value:g}" if key != "attempt" else f" {key}={value}" for key, value in asked.items() if isinstance(value, (int, float)))


def _files(context, command):
    """The rule's input, whose size the shell finds, and then its output, by which recommend --jobs knows who needs it, as far as the command has room."""
    room, found = MOST_BYTES - len(command.replace("'", r"'\''")), ""
    for key in "input", "output":
        files = context.get(key)
        words = "".join(f" {key}={quote(str(one))}" for one in files) if isinstance(files, list) else ""
        if len(words) > room:
            break
        found, room = found + words, room - len(words)
    return found


def _name_the_step():
    # Snakemake asks for the prefix of a command once for each command. Its own prefix ("set -euo pipefail; ") stays behind ours.
    original = shell._get_process_prefix

    def prefix(cls, *args, **kwargs):
        caller = inspect.currentframe().f_back.f_locals
        context = caller.get("context") or {}
        job, wildcards = context.get("rule"), context.get("wildcards")
        task = ",".join(f"{key}={value}" for key, value in wildcards.items()) if wildcards else ""
        if not job:
            return original(*args, **kwargs)
        files = _files(context, str(caller.get("cmd")))
        return f": resource-tracker-step {quote(str(job), safe='')} {quote(task, safe='')}{_request(context)}{files}; " + original(*args, **kwargs)

    shell._get_process_prefix = classmethod(prefix)


if hasattr(shell, "_get_process_prefix") and not hasattr(shell, "_resource_tracker"):
    shell._resource_tracker = True
    _name_the_step()
