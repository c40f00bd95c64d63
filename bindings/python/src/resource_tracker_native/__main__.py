"""python -m resource_tracker_native: the command resource-tracker of this package, also where no folder of PATH has it."""
import os
import sys
import sysconfig


def command():
    """Returns the path of resource-tracker: in lib of a checkout, or in the folder where pip puts programs."""
    here = os.path.dirname(os.path.abspath(__file__))
    packages = os.path.dirname(here)
    usual = os.path.basename(packages) in ("site-packages", "dist-packages")
    # In lib/python3.11/site-packages, or in the folder of pip install --target.
    places = [os.path.join(here, "lib"), os.path.join(packages, "../../../bin" if usual else "bin"), sysconfig.get_path("scripts")]
    for place in places:
        path = os.path.normpath(os.path.join(place, "resource-tracker"))
        if os.access(path, os.X_OK):
            return path
    sys.exit("resource-tracker is missing: install resource-tracker-native with its programs (pip install --force-reinstall)")


def main():
    os.execv(command(), ["resource-tracker", *sys.argv[1:]])


if __name__ == "__main__":
    main()
