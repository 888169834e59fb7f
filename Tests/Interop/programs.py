"""Other programs: those of this machine, and those that "make interop" has unpacked from Debian packages."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

# Next to the checks' virtual environment.
UNPACKED = Path(sys.prefix).parent / "interop-programs"
# Programs from PyPI, in a separate virtual environment.
TOOLS = Path(sys.prefix).parent / "interop-tools" / "bin"
# If any package could not be downloaded, none is used.
IS_UNPACKED = (UNPACKED / "ready").exists()
LIBRARIES = UNPACKED / "usr" / "lib"
BY_ARCHITECTURE = next(LIBRARIES.glob("*-linux-gnu*"), LIBRARIES)
ETC = Path(__file__).parents[2] / "etc"


class Program:
    """A program with the environment it needs. An unpacked program finds its libraries through that."""

    def __init__(self, path, environment):
        self.path, self.name = str(path), Path(path).name
        self.environment = dict(environment)
        if UNPACKED in Path(path).parents:
            self.environment["LD_LIBRARY_PATH"] = str(BY_ARCHITECTURE)

    def run(self, *words, stdin="", **variables):
        """Runs the program without a terminal, so that it cannot prompt."""
        return subprocess.run(
            [self.path, *map(str, words)], input=stdin, capture_output=True, text=True, timeout=60,
            env=self.environment | variables, start_new_session=True,
        )

    def version(self, *words):
        """The first line of its output, or None if it does not start."""
        try:
            done = self.run(*(words or ["--version"]))
        except OSError:
            return None
        return (done.stdout.strip().splitlines() or ["it says nothing"])[0] if done.returncode == 0 else None


def environment(stage):
    """The stage's environment, in which hearthctl and docker's helper are found by name."""
    return stage.environment | {"PATH": os.pathsep.join([str(stage.programs), str(ETC), os.environ["PATH"]])}


def found(stage, name, *version):
    """The programs with this name that start, this machine's own first."""
    unpacked = [UNPACKED / "usr" / folder / name for folder in ("bin", "sbin") if IS_UNPACKED]
    places = [shutil.which(name), *unpacked, TOOLS / name]
    programs = [Program(place, environment(stage)) for place in places if place and os.access(place, os.X_OK)]
    return [program for program in programs if program.version(*version)]
