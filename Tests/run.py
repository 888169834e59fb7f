#!/usr/bin/env python3
"""run.py [--runs N] [--load] [FOLDER]: runs every test that was built in FOLDER (.build/debug).

Tests that compute for a long time run one after another in their own process, beside the others. If a test in
EndToEndTests fails, it runs once more by itself. If it fails again, the run fails. If it passes, it is listed as
flaky. The run also fails if more than two tests are flaky. Other tests are not run again.

The failures come last, each with its messages and a command that repeats it. The logs are in .build/test.

--runs N   run everything N times without running failed tests again, and print how often each test failed
--load     run four busy loops and a loop of fsyncs beside the tests
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / ".build/test"
# Tests with hundreds of histories, crashes and faults, which would slow down the others.
HEAVY = (r"SimulationTests|PowerLossTests|OutboxFaultTests|FullDiskTests|RandomOperationsTests|StateTransitionTests"
         r"|FuzzTests")
# How many tests run at once, besides the heavy ones. Tests that start programs need CPU time.
WIDTH = "8"
WITH_PROGRAMS = "EndToEndTests."
MOST_FLAKY = 2
# Fixed seeds, the same in each run. "make torture" and "make simulate" use others.
CHANCE = {"SWIFT_DETERMINISTIC_HASHING": "1", "HEARTH_CRASH_SEED": "1"}
SECONDS = int(os.environ.get("TEST_SECONDS", "2400"))


@dataclass
class Outcome:
    """The results of a test process. Tests are identified without file and line."""

    begun: set = field(default_factory=set)
    ended: set = field(default_factory=set)
    messages: dict = field(default_factory=dict)
    problem: str = ""

    @property
    def failed(self):
        return set(self.messages) | (self.begun - self.ended)

    @property
    def is_green(self):
        return not self.failed and not self.problem


class Run:
    """A test process. Its events (JSON) are read after it has ended."""

    def __init__(self, binary, name, arguments):
        LOGS.mkdir(parents=True, exist_ok=True)
        self.name, self.log, self.events = name, LOGS / f"{name}.log", LOGS / f"{name}.jsonl"
        self.events.unlink(missing_ok=True)
        self.output = open(self.log, "wb")
        environment = {**CHANCE, **os.environ, "SWIFT_BACKTRACE": "enable=no"}
        self.process = subprocess.Popen(
            [binary, "--testing-library", "swift-testing", "--event-stream-output-path", self.events,
             "--event-stream-version", "0", *arguments],
            cwd=ROOT, env=environment, stdout=self.output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            start_new_session=True)

    def outcome(self, deadline):
        outcome = Outcome()
        try:
            status = self.process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.end()
            status = None
            outcome.problem = f"It did not end within {SECONDS} s."
        self.output.close()
        lines = self.events.read_bytes().splitlines() if self.events.exists() else []
        for line in lines:
            try:
                self.take(json.loads(line), outcome)
            except ValueError:
                pass  # An incomplete last line, if the process was killed.
        if status not in (0, None) and not outcome.failed:
            outcome.problem = f"It exited with status {status}."
        if status is not None and status < 0:
            outcome.problem = f"It was killed by {signal.Signals(-status).name}."
        if not outcome.begun and not outcome.problem:
            outcome.problem = "It ran no test."
        return outcome

    @staticmethod
    def take(record, outcome):
        if record.get("kind") != "event":
            return
        event = record["payload"]
        if not event.get("testID"):
            return
        test = re.sub(r"/[^/]*\.swift:\d+:\d+$", "", event["testID"])
        if event["kind"] == "testStarted":
            outcome.begun.add(test)
        elif event["kind"] in ("testEnded", "testSkipped"):
            outcome.begun.add(test)
            outcome.ended.add(test)
        elif event["kind"] == "issueRecorded" and not event["issue"].get("isKnown"):
            if event["issue"].get("severity", "error") == "error":
                place = event["issue"].get("sourceLocation") or {}
                where = f"{Path(place['_filePath']).name}:{place['line']}: " if "_filePath" in place else ""
                text = "\n".join(message["text"] for message in event.get("messages", []))
                outcome.messages.setdefault(test, []).append(where + text)

    def end(self):
        """Kills the process and the programs that it has started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def leaves(tests):
    """The tests, without suites that are listed only because one of their tests is."""
    return sorted(test for test in tests if not any(other.startswith((test + "/", test + ".")) for other in tests))


def run_all(binary):
    deadline = time.monotonic() + SECONDS
    runs = [
        Run(binary, "heavy", ["--no-parallel", "--filter", HEAVY]),
        Run(binary, "tests", ["--experimental-maximum-parallelization-width", WIDTH, "--skip", HEAVY]),
    ]
    try:
        outcomes = []
        for run in runs:
            began = time.monotonic()
            outcomes.append((run, run.outcome(deadline)))
        return outcomes
    finally:
        for run in runs:
            run.end()


def command(test):
    chance = " ".join(f"{name}={os.environ.get(name, value)}" for name, value in CHANCE.items())
    return f"{chance} swift test --skip-build --filter '{re.escape(test)}'"


def show(test, messages, log):
    print(f"✘ {test}")
    for message in messages[:5]:
        lines = message.splitlines()
        print("\n".join("    " + line for line in lines[:8]))
    if len(messages) > 5:
        print(f"    … and {len(messages) - 5} more in {log.relative_to(ROOT)}")
    if not messages:
        print(f"    It did not end. See {log.relative_to(ROOT)}.")
    print(f"    {command(test)}")


def tail(log):
    return "\n".join("    " + line for line in log.read_text(errors="replace").splitlines()[-15:])


def once(binary):
    """Runs every test, and failed tests with programs a second time. Returns the exit status."""
    began = time.monotonic()
    outcomes = run_all(binary)
    count = sum(len(outcome.ended) for _, outcome in outcomes)
    red, flaky = [], []
    for run, outcome in outcomes:
        for test in leaves(outcome.failed):
            if not test.startswith(WITH_PROGRAMS) or outcome.problem or len(red) + len(flaky) > MOST_FLAKY + 3:
                red.append((test, outcome.messages.get(test, []), run.log))
                continue
            again = Run(binary, f"again-{len(red) + len(flaky)}", ["--filter", "^" + re.escape(test) + "(/|$)"])
            second = again.outcome(time.monotonic() + SECONDS)
            first = outcome.messages.get(test, [])
            if second.is_green:
                flaky.append((test, first, run.log))
            else:
                messages = [text for texts in second.messages.values() for text in texts]
                red.append((test, first + ["When run again by itself:"] + (messages or [second.problem]), again.log))
    problems = [(run, outcome.problem) for run, outcome in outcomes if outcome.problem]
    print(f"{count} tests and suites completed in {time.monotonic() - began:.0f} s.")
    for test, messages, log in flaky:
        print("\nFlaky (failed, then passed when run again):")
        show(test, messages, log)
    if flaky and "HEARTH_FLAKY" in os.environ:
        with open(os.environ["HEARTH_FLAKY"], "a") as file:
            file.writelines(f"test: {test}\n" for test, _, _ in flaky)
    if red or problems or len(flaky) > MOST_FLAKY:
        print("\nFailures:")
        for run, problem in problems:
            print(f"✘ {run.name}: {problem} The last lines of {run.log.relative_to(ROOT)}:\n{tail(run.log)}")
        for test, messages, log in red:
            show(test, messages, log)
        if len(flaky) > MOST_FLAKY:
            print(f"✘ {len(flaky)} tests are flaky. At most {MOST_FLAKY} are allowed.")
        return 1
    return 0


def many(binary, count):
    """Runs every test `count` times and prints how often each failed. Returns the exit status."""
    failures, times = {}, []
    for number in range(1, count + 1):
        began = time.monotonic()
        for run, outcome in run_all(binary):
            for test in leaves(outcome.failed):
                failures.setdefault(test, []).append((number, outcome.messages.get(test, []), run.log))
            if outcome.problem:
                failures.setdefault(f"{run.name}: {outcome.problem}", []).append((number, [tail(run.log)], run.log))
            for file in (run.log, run.events):
                file.rename(file.with_name(f"{number}-{file.name}"))
        times.append(time.monotonic() - began)
        print(f"Run {number} of {count}: {times[-1]:.0f} s, {sum(n == number for f in failures.values() for n, *_ in f)} failed",
              flush=True)
    print()
    for test, found in sorted(failures.items(), key=lambda entry: -len(entry[1])):
        print(f"Failed {len(found)} of {count} times, in run {', '.join(str(number) for number, *_ in found)}:")
        show(test, found[0][1], found[0][2])
    if not failures:
        print(f"Nothing failed in {count} runs.")
    return 1 if failures else 0


def load():
    """Starts four busy loops and a loop of fsyncs, which end with this process."""
    spin = "import ctypes, signal; ctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"
    sync = spin + (
        "import os, tempfile\nwith tempfile.TemporaryFile(dir='.build') as f:\n"
        "  while True: f.seek(0); f.write(b'x' * 65536); f.flush(); os.fsync(f.fileno())\n")
    programs = [spin + "while True: pass\n"] * 4 + [sync]
    return [subprocess.Popen([sys.executable, "-c", program], cwd=ROOT) for program in programs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=".build/debug")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--load", action="store_true")
    options = parser.parse_args()
    binary = ROOT / options.folder / "hearthPackageTests.xctest"
    # Makes the end of a CI job end the tests too, as Ctrl-C does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    beside = load() if options.load else []
    try:
        return many(binary, options.runs) if options.runs else once(binary)
    finally:
        for process in beside:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
