"""Builds the recipes for RPM and Arch in a root with their tools, and installs and removes the packages in a bare Debian, for packaging/smoke.

The bare root is made from Debian's packages and gets the libraries of the analysis from them, so that the packages' own names of
what they need are not tried.
"""
import shutil
import subprocess

from bare_root import copied, inside

NAME = "resource-tracker"
LIBRARIES = ["libjansson4", "libcurl4", "libsqlite3-0", "libncursesw6", "zlib1g"]


def bare(root, source):
    """A copy of the root `source` in `root`/bare, with the libraries."""
    place = root / "bare"
    place.mkdir()
    copied(source)(place)
    shutil.copy("/etc/resolv.conf", place / "etc/resolv.conf")
    inside(place, "apt-get", "-q", "update")
    inside(place, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-q", "-y", "--no-install-recommends", *LIBRARIES)
    return place


def files_of(place):
    """The files with our name, Python's own module among them. The databases of package managers and /tmp are not searched."""
    found = subprocess.run(["find", place, "-xdev", "-path", f"{place}/tmp", "-prune", "-o", "-path", f"{place}/var", "-prune", "-o", "-name",
                            f"*{NAME.replace('-', '?')}*", "-print"], stdout=subprocess.PIPE, text=True, check=True)
    return found.stdout.split()


def sources_for(artefact, folder):
    folder.mkdir(parents=True)
    for path in (artefact, *artefact.parent.glob(f"{NAME}-*.tar.gz")):
        if "-linux-" not in path.name:
            shutil.copy(path, folder)


def smoke_rpm(artefact, root, source, first_example):
    sources_for(artefact, root / "tmp/rpm/SOURCES")
    inside(root, "rpmbuild", "-ba", "--nodeps", "--define", "_topdir /tmp/rpm", f"/tmp/rpm/SOURCES/{artefact.name}")
    place = bare(root, source)
    before = files_of(place)
    inside(root, "sh", "-c", "rpm --root /bare -i --nodeps /tmp/rpm/RPMS/*/*.rpm")
    first_example(place, NAME)
    names = inside(root, "rpm", "--root", "/bare", "-qa").split()
    assert len(names) == 5, names
    inside(root, "rpm", "--root", "/bare", "-e", *names)
    assert files_of(place) == before, files_of(place)


def smoke_arch(artefact, root, source, first_example):
    sources_for(artefact, root / "tmp/arch")
    subprocess.run(["chown", "-R", "65534:65534", root / "tmp/arch"], check=True)
    inside(root, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/tmp/arch", "sh", "-c",
           "cd /tmp/arch && makepkg -d --noconfirm")
    place = bare(root, source)
    before = files_of(place)
    (place / "var/lib/pacman").mkdir(parents=True)
    # Without signatures, and without a look at the free space of mount points, which a bare root does not list.
    (root / "tmp/pacman.conf").write_text("[options]\nArchitecture = auto\nSigLevel = Never\n")
    pacman = ["pacman", "--config", "/tmp/pacman.conf", "--root", "/bare", "--noconfirm", "-dd"]
    inside(root, "sh", "-c", f"{' '.join(pacman)} -U /tmp/arch/{NAME}-[0-9]*.pkg.tar.*")
    first_example(place, NAME)
    inside(root, *pacman, "-R", NAME)
    assert files_of(place) == before, files_of(place)
