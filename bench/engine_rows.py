"""The lines of tools/engines-table: each bench that runs engines appends them to the file named $ENGINES_TABLE."""
import json
import os


def keep_row(engine, figure, recording, engine_says, job_says=None):
    path = os.environ.get("ENGINES_TABLE")
    if path:
        with open(path, "a") as lines:
            lines.write(json.dumps({"engine": engine, "figure": figure, "recording": recording, "engine says": engine_says,
                                    "job says": job_says}) + "\n")
