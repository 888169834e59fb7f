"""Programs of others: those of this machine, and those that "make interop" has taken out of Debian's packages."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

# Beside the virtual environment that the checks run in.
UNPACKED = Path(sys.prefix).parent / "interop-programs"
# Where some of them could not be downloaded, none of them is used.
IS_UNPACKED = (UNPACKED / "ready").exists()
LIBRARIES = UNPACKED / "usr" / "lib"
BY_ARCHITECTURE = next(LIBRARIES.glob("*-linux-gnu*"), LIBRARIES)
ETC = Path(__file__).parents[2] / "etc"


class Program:
    """One that starts; what it needs of the unpacked packages is found through its environment."""

    def __init__(self, path, environment):
        self.path, self.name = str(path), Path(path).name
        self.environment = dict(environment)
        if UNPACKED in Path(path).parents:
            self.environment["LD_LIBRARY_PATH"] = str(BY_ARCHITECTURE)

    def run(self, *words, stdin="", **variables):
        """Without a terminal, so that it can ask nobody for anything."""
        return subprocess.run(
            [self.path, *map(str, words)], input=stdin, capture_output=True, text=True, timeout=60,
            env=self.environment | variables, start_new_session=True,
        )

    def version(self, *words):
        """Its first line; nothing where it does not start."""
        try:
            done = self.run(*(words or ["--version"]))
        except OSError:
            return None
        return (done.stdout.strip().splitlines() or ["it says nothing"])[0] if done.returncode == 0 else None


def environment(stage):
    """As a person has it: hearthctl is found by its name, and so is docker's helper."""
    return stage.environment | {"PATH": os.pathsep.join([str(stage.programs), str(ETC), os.environ["PATH"]])}


def found(stage, name, *version):
    """Those with this name that start, this machine's own first."""
    unpacked = [UNPACKED / "usr" / folder / name for folder in ("bin", "sbin") if IS_UNPACKED]
    places = [shutil.which(name), *unpacked]
    programs = [Program(place, environment(stage)) for place in places if place and os.access(place, os.X_OK)]
    return [program for program in programs if program.version(*version)]
