#!/usr/bin/env python3
"""Random schedules of trouble for a streamed run: tests/soak/net_faults.py BUILD [COUNT]

Each must end within its deadline, with no row lost and none sent twice. Ends with "N passed, N failed".
"""
import importlib.util
import os
import pathlib
import sys
import tempfile
import traceback

TOP = pathlib.Path(__file__).resolve().parents[2]
FIRST_SEED = 1000  # ordinary tests use smaller seeds


def load_conftest():
    spec = importlib.util.spec_from_file_location("conftest", TOP / "tests" / "cli" / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    os.environ["RESOURCE_TRACKER"] = str(build / "resource-tracker")
    sys.path.insert(0, str(TOP / "tests" / "fakes"))
    from sentinel_faults import run_schedule
    from sentinel_support import Swift, World, make_template

    passed = failed = rows = 0
    environment = load_conftest().clean_environment
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        swift = Swift(folder / "s3")
        template = make_template(build / "resource-tracker", folder, environment())
        for seed in range(FIRST_SEED, FIRST_SEED + count):
            path = folder / f"run{seed}"
            path.mkdir()
            world = World(path, template, swift, environment)
            try:
                rows += run_schedule(world, seed)
                passed += 1
            except Exception:
                failed += 1
                print(f"seed {seed}:\n{traceback.format_exc()}", flush=True)
            finally:
                world.close()
        swift.close()
    print(f"{rows} rows, all of them sent once" if not failed else f"{failed} schedules broke a promise")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
