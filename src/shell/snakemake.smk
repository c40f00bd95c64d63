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

os.environ.setdefault("TRACKER_SHELL_OUTPUT", os.path.join(os.getcwd().replace("%", "%%"), ".resource-tracker", "%n.%t.%p.jsonl"))
shell.executable(os.path.join(os.path.dirname(os.path.realpath(inspect.currentframe().f_code.co_filename)), "bash"))


def _name_the_step():
    # Snakemake asks for the prefix of a command once for each command. Its own prefix ("set -euo pipefail; ") stays behind ours.
    original = shell._get_process_prefix

    def prefix(cls, *args, **kwargs):
        context = inspect.currentframe().f_back.f_locals.get("context") or {}
        job, wildcards = context.get("rule"), context.get("wildcards")
        task = ",".join(f"{key}={value}" for key, value in wildcards.items()) if wildcards else ""
        mark = f": resource-tracker-step {quote(str(job), safe='')} {quote(task, safe='')}; " if job else ""
        return mark + original(*args, **kwargs)

    shell._get_process_prefix = classmethod(prefix)


if hasattr(shell, "_get_process_prefix") and not hasattr(shell, "_resource_tracker"):
    shell._resource_tracker = True
    _name_the_step()
