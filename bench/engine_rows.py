"""The lines of tools/engines-table: each bench that runs engines appends them to the file named $ENGINES_TABLE."""
import json
import os


def keep_row(engine, figure, recording, engine_says=None, job_says=None, *, least=None, most=None, wanted=None, judged=None):
    """Keeps a row and returns whether it is within its limit: the recording is at least `least` and at most `most`, or is `wanted`.
    Where the engine judges what we wrote, `judged` is its answer and has to be `wanted`.
    """
    if wanted is not None:
        within = (recording if judged is None else judged) == wanted
    else:
        within = recording is not None and least <= recording <= most
    path = os.environ.get("ENGINES_TABLE")
    if path:
        with open(path, "a") as lines:
            lines.write(json.dumps({"engine": engine, "figure": figure, "recording": recording, "engine says": engine_says,
                                    "job says": job_says, "least": least, "most": most, "wanted": wanted, "within": within}) + "\n")
    return within
