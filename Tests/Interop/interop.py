"""interop.py PROGRAMS [NAME...]: checks the programs in the folder PROGRAMS against real OpenID Connect providers.

The first provider is django-oauth-toolkit, the second Canaille, in their own processes on loopback. The sandbox makes
the mistakes that neither of them makes. Each check has its own stage and process, and a few run at once. A check that
fails runs once more by itself. If it passes then, it is reported as flaky and added to the file $HEARTH_FLAKY.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

from checks import CHECKS, USUAL  # noqa: E402
from provider import SERVE, environment  # noqa: E402
from stage import Failure, Stage  # noqa: E402

SIDE_BY_SIDE = 4
# The longest time for a check, in seconds. It is generous for a slow and busy machine.
TIME_LIMIT = 600


def run_one(programs, site, name):
    """Runs a check in this process. Returns 0 and prints what it saw, or returns 1 and prints why it failed."""
    try:
        with Stage(programs, site) as stage:
            seen = CHECKS[name](stage)
            stage.end_daemon()
            stage.expect_no_secret_in_the_log()
    except Failure as failure:
        print(f"--- {name}: {failure}")
        return 1
    print(seen)
    return 0


class Run:
    """A running check, in its own process."""

    def __init__(self, programs, site, name):
        self.name, self.began, self.is_skipped = name, time.monotonic(), False
        self.output = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--one", name, str(site), str(programs)],
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output, start_new_session=True,
        )

    @property
    def seconds(self):
        return time.monotonic() - self.began

    def has_ended(self):
        if self.seconds > TIME_LIMIT:
            self.end()
        return self.process.poll() is not None

    def end(self):
        """Tells the check to end itself and everything it has started."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()

    def report(self):
        """Prints the result. Returns whether the check passed."""
        self.output.seek(0)
        text = self.output.read().strip()
        if self.process.returncode == 0:
            self.is_skipped = text.startswith("skipped: ")
            verdict = "SKIPPED" if self.is_skipped else "passed "
            print(f"{verdict} {self.name:18} {self.seconds:4.0f} s  {text.removeprefix('skipped: ')}", flush=True)
            return True
        late = f" (the limit is {TIME_LIMIT} s)" if self.seconds > TIME_LIMIT else ""
        print(f"FAILED  {self.name:18} {self.seconds:4.0f} s{late}\n{text}", flush=True)
        return False


def run_all(programs, site, names, side_by_side):
    """Runs checks. Returns the names of those that were skipped and of those that failed."""
    waiting, running, skipped, failed = list(names), [], [], []
    try:
        while waiting or running:
            while waiting and len(running) < side_by_side:
                running.append(Run(programs, site, waiting.pop(0)))
            time.sleep(0.1)
            for run in [run for run in running if run.has_ended()]:
                running.remove(run)
                if not run.report():
                    failed.append(run.name)
                elif run.is_skipped:
                    skipped.append(run.name)
        return skipped, failed
    finally:
        for run in running:
            run.end()


def stop(*_):
    sys.exit(1)


def main():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    if sys.argv[1] == "--one":
        return run_one(sys.argv[4], sys.argv[3], sys.argv[2])
    programs, names = Path(sys.argv[1]).resolve(), sys.argv[2:] or USUAL
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        print(f"Unknown checks: {', '.join(unknown)}. The checks are: {' '.join(CHECKS)}", file=sys.stderr)
        return 64
    # Start the longest checks first.
    names.sort(key=lambda name: name not in ("short-tokens", "bad-replies"))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hearth-interop.") as site:
        subprocess.run([sys.executable, SERVE, "prepare"], env=environment(site), check=True)
        skipped, failed = run_all(programs, site, names, SIDE_BY_SIDE)
        if failed:
            print(f"Running again, one at a time: {' '.join(failed)}", flush=True)
        red = run_all(programs, site, failed, 1)[1]
    flaky = [name for name in failed if name not in red]
    note_flaky(flaky)
    print(f"{len(names) - len(skipped) - len(red)} of {len(names)} checks passed in {time.monotonic() - began:.0f} s.")
    for what, which in [("SKIPPED", skipped), ("flaky (failed at first)", flaky), ("FAILED twice", red)]:
        if which:
            print(f"{what}: {' '.join(which)}")
    return 1 if red else 0


def note_flaky(names):
    if names and os.environ.get("HEARTH_FLAKY"):
        with open(os.environ["HEARTH_FLAKY"], "a") as file:
            file.writelines(f"interop: {name}\n" for name in names)


if __name__ == "__main__":
    sys.exit(main())
