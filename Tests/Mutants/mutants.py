#!/usr/bin/env python3
"""mutants.py [--seed N] [--count N] [--files PREFIX ...]: checks whether the tests of HearthCore notice deliberate
mistakes.

It draws mutants of Sources/HearthCore: a changed comparison, a dropped or negated condition, && instead of ||, a
dropped action or two swapped ones, a constant that is off by one, min instead of max. Larger files get more of them.
With --files, it draws only from files whose path below Sources/HearthCore begins with a PREFIX, such as Session/.
The same seed draws the same mutants from the same sources. All of them are built into one test binary, from a copy of
the package in .build/mutants, and the environment variable HEARTH_MUTANT activates one. If a mutant does not compile,
the next one of the seed replaces it.

Each mutant runs against HearthCoreTests until the first failure, with the simulations last. Crashes, and runs that take
several times as long as usual, count as failures. The script prints a line for each mutant and a summary, and exits
with 1 if the tests kill fewer than 95 in 100. Mutants in EQUIVALENT, which have no visible effect, do not count.
"""

import argparse
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / ".build/mutants/package"
SCRATCH = ROOT / ".build/mutants/build"
CORE = Path("Sources/HearthCore")
COPIED = ["Package.swift", "Package.resolved", "Sources", "Tests", "Benchmarks", "etc/examples"]
WANTED = 0.95
SIDE_BY_SIDE = 2
MEMORY = 6 << 30

# File, part of the line, beginning of the change, and why it has no visible effect.
EQUIVALENT = [
    ("Outbox/OutboxPauses.swift", "var lastNumber = 0", "0 becomes 1",
        "Pause numbers are only compared with each other, and with the 0 of an account without pauses."),
    ("Session/SessionInput.swift", "var userLocks = 0", "0 becomes 1", "The counts are only compared with each other."),
]

# ---- Parsing as much of Swift as necessary


def end_of_string(text, start):
    """The index after the string that begins at `start`, including its interpolations."""
    quotes = '"""' if text.startswith('"""', start) else '"'
    at = start + len(quotes)
    while not text.startswith(quotes, at):
        if text.startswith("\\(", at):
            depth, at = 1, at + 2
            while depth:
                if text[at] == '"':
                    at = end_of_string(text, at)
                    continue
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                at += 1
        else:
            at += 2 if text[at] == "\\" else 1
    return at + len(quotes)


def masked(text):
    """The text with comments, strings and preconditions blanked, so that all positions stay the same."""
    out, at = list(text), 0

    def blank(start, end, sign):
        for index in range(start, end):
            if out[index] != "\n":
                out[index] = sign

    while at < len(text):
        if text.startswith("//", at):
            end = text.find("\n", at)
            blank(at, end, " ")
        elif text.startswith("/*", at):
            end = text.index("*/", at) + 2
            blank(at, end, " ")
        elif text[at] == '"':
            end = end_of_string(text, at)
            blank(at, end, '"')
        else:
            end = at + 1
        at = end
    code = "".join(out)
    for found in re.finditer(r"\b(precondition\w*|assert\w*|fatalError)\(", code):
        blank(found.start(), closing(code, found.end() - 1) + 1, '"')
    return "".join(out)


def closing(code, start):
    """The index of the bracket that closes the one at `start`."""
    depth = 0
    for at in range(start, len(code)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0)
        if depth == 0:
            return at
    raise ValueError("a bracket is not closed")


def parts(code, start, ends):
    """The parts between commas from `start` to the first of `ends`, ignoring what is in brackets."""
    found, begin, at = [], start, start
    while not any(code.startswith(end, at) for end in ends):
        if code[at] in "([{":
            at = closing(code, at)
        elif code[at] == ",":
            found.append((begin, at))
            begin = at + 1
        elif code[at] in ")]}":
            return []
        at += 1
    found.append((begin, at))
    return [stripped(code, *part) for part in found if code[part[0] : part[1]].strip()]


def stripped(code, start, end):
    text = code[start:end]
    return start + len(text) - len(text.lstrip()), end - (len(text) - len(text.rstrip()))


# ---- Mutants


@dataclass
class Mutant:
    path: Path
    kind: str
    line: int
    last_line: int
    start: int
    end: int
    edits: list  # (start, end, text); in the text, NUMBER stands for the number and OP for the mutant's own operator
    change: str
    declaration: str = ""  # of that operator
    source: str = ""
    number: int = 0

    def named(self, text):
        return text.replace("OP", chr(0x2200 + self.number // 256) + chr(0x2200 + self.number % 256)).replace(
            "NUMBER", str(self.number))

    def reason(self):
        """Why the mutant has no visible effect, or None if it may have one."""
        for path, part, change, why in EQUIVALENT:
            if self.path == CORE / path and part in self.source and self.change.startswith(change):
                return why
        return None

    def __str__(self):
        return f"{self.path.relative_to(CORE)}:{self.line}: {self.change}"


TURNED = {"<": [">=", "<="], "<=": [">", "<"], ">": ["<=", ">="], ">=": ["<", ">"], "==": ["!="], "!=": ["=="]}

COMPARISON = """infix operator OP: ComparisonPrecedence
func OP <T: Comparable>(a: T, b: T) -> Bool { Mutant.on(NUMBER) ? a NEW b : a OLD b }
"""
EQUALITY = """infix operator OP: ComparisonPrecedence
func OP <T: Equatable>(a: T, b: T) -> Bool { Mutant.on(NUMBER) ? a NEW b : a OLD b }
@_disfavoredOverload func OP <T>(a: T?, b: _OptionalNilComparisonType) -> Bool { Mutant.on(NUMBER) ? a NEW b : a OLD b }
"""
LOGIC = """infix operator OP: PRECEDENCE
func OP (a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool { try Mutant.on(NUMBER) ? NEW : a OLD b() }
"""
PREFIX = "prefix operator OP\nprefix func OP (a: Bool) -> Bool { Mutant.on(NUMBER) ? a : !a }\n"
POSTFIX = "postfix operator OP\npostfix func OP (a: Bool) -> Bool { Mutant.on(NUMBER) ? !a : a }\n"
SWITCH = """import Glibc

/// The active mutant.
package enum Mutant {
  private static let chosen = getenv("HEARTH_MUTANT").flatMap { Int(String(cString: $0)) } ?? -1

  package static func on(_ number: Int) -> Bool { chosen == number }

  package static func off<T: Numeric>(_ number: Int, _ value: T) -> T { on(number) ? value + 1 : value }

  package static func min<T: Comparable>(_ number: Int, _ a: T, _ b: T) -> T {
    on(number) ? Swift.max(a, b) : Swift.min(a, b)
  }

  package static func max<T: Comparable>(_ number: Int, _ a: T, _ b: T) -> T {
    on(number) ? Swift.min(a, b) : Swift.max(a, b)
  }
}

extension Sequence where Element: Comparable {
  func mutantMin(_ number: Int) -> Element? { Mutant.on(number) ? self.max() : self.min() }
  func mutantMax(_ number: Int) -> Element? { Mutant.on(number) ? self.min() : self.max() }
}
"""


def mutants_of(path, text):
    """All possible mutants of a file."""
    code = masked(text)
    found = []

    def add(kind, start, end, edits, change, declaration=""):
        line = code.count("\n", 0, start) + 1
        source = text.splitlines()[line - 1].strip()
        found.append(
            Mutant(path, kind, line, line + code.count("\n", start, end), start, end, edits, change, declaration, source))

    def show(start, end):
        return " ".join(text[start:end].split())

    def wrap(kind, start, end, before, after, change):
        add(kind, start, end, [(start, start, before), (end, end, after)], change)

    for match in re.finditer(r"(?<=\s)(<=?|>=?|==|!=)(?=\s)", code):
        old = match[1]
        if re.search(r"(func|where .*)\s$", code[: match.start()].rpartition("\n")[2]):
            continue
        for new in TURNED[old]:
            form = EQUALITY if old in ("==", "!=") else COMPARISON
            around = show(*stripped(code, max(0, match.start() - 24), match.end() + 16))
            add(
                "comparison", *match.span(), [(*match.span(), "OP")], f"{old} becomes {new} in … {around} …",
                form.replace("OLD", old).replace("NEW", new))
    for match in re.finditer(r"(?<=\s)(&&|\|\|)(?=\s)", code):
        old, other = match[1], {"&&": "||", "||": "&&"}[match[1]]
        precedence = {"&&": "LogicalConjunctionPrecedence", "||": "LogicalDisjunctionPrecedence"}[old]
        around = show(*stripped(code, max(0, match.start() - 24), match.end() + 24))
        for new, change in (
            (f"(a {other} b())", f"becomes {other}"), ("b()", "loses its left side"), ("a", "loses its right side"),
        ):
            declaration = LOGIC.replace("PRECEDENCE", precedence).replace("OLD", old).replace("NEW", new)
            add("logic", *match.span(), [(*match.span(), "OP")], f"{old} {change} in … {around} …", declaration)
    for match in re.finditer(r"(?<![\w)\]!?=<>&|+*/.-])!(?=[\w(])", code):
        around = show(match.start(), match.end() + 24)
        add("negation", *match.span(), [(*match.span(), "OP")], f"! is dropped in {around} …", PREFIX)
    for match in re.finditer(r"(?<=[\w)]) \? ", code):
        around = show(*stripped(code, max(0, match.start() - 32), match.end()))
        add("condition", *match.span(), [(match.start(), match.start(), "OP")], f"negated: … {around}", POSTFIX)

    for match in re.finditer(r"(?<![#.\w])(if|guard|while)\s", code):
        ends = ["else"] if match[1] == "guard" else ["{"]
        for start, end in parts(code, match.end(), ends):
            condition(code, start, end, wrap, show)
    for match in re.finditer(r"^ *(case|for) .*\bwhere\s", code, re.MULTILINE):
        if match[1] == "for":
            clauses = parts(code, match.end(), ["{"])
        else:
            clauses = [part for part in parts(code, match.end(), [":", "?"]) if code[part[1]] == ":"][:1]
        for start, end in clauses:
            condition(code, start, end, wrap, show)

    for match in re.finditer(r"(?<![\w$\"])(?<!(?<!\.)\.)\d[\d_]*(?![\w:]|\.\d)", code):
        number = match[0].replace("_", "")
        around = show(*stripped(code, max(0, match.start() - 24), match.end() + 8))
        change = f"{match[0]} becomes {int(number) + 1} in … {around} …"
        wrap("constant", *match.span(), "Mutant.off(NUMBER, ", ")", change)

    for match in re.finditer(r"(?<![\w.])(?:Swift\.)?(min|max)\((?!\))|\.(min|max)\(\)", code):
        old = match[1] or match[2]
        around = show(match.start(), match.end() + 24)
        new = f"Mutant.{old}(NUMBER, " if match[1] else f".mutant{old.capitalize()}(NUMBER)"
        if "func" not in code[: match.start()].rpartition("\n")[2]:
            add("limit", *match.span(), [(*match.span(), new)], f"{old} becomes its opposite in {around} …")

    for match in re.finditer(r"(?:(?:return|[+?:={]|\?\?)\s+)(\[)(?=\s*\.)", code):
        start, end = match.start(1), closing(code, match.start(1)) + 1
        if "//" in text[start:end]:
            continue
        elements = [show(*part) for part in parts(code, start + 1, ["]"])]
        forms = [(f"{element} is dropped", elements[:at] + elements[at + 1 :]) for at, element in enumerate(elements)]
        forms += [
            (f"{elements[at]} and {elements[at + 1]} are swapped",
                elements[:at] + [elements[at + 1], elements[at]] + elements[at + 2 :])
            for at in range(len(elements) - 1)
        ]
        for change, rest in forms:
            wrap("array", start, end, f"(Mutant.on(NUMBER) ? [{', '.join(rest)}] : ", ")", change)
    for match in re.finditer(r"^ *(\w+\.append\(.*\)|\w+\.insert\(.*\))$", code, re.MULTILINE):
        start, end = match.span(1)
        if closing(code, code.index("(", start)) == end - 1:
            wrap("array", start, end, "if !Mutant.on(NUMBER) { ", " }", f"{show(start, end)} is dropped")
    for match in re.finditer(r"^ *(actions|events) \+= (.*[)\]])$", code, re.MULTILINE):
        start, end = match.span(2)
        if parts(code, start, ["\n"]) == [(start, end)]:
            wrap("array", start, end, "(Mutant.on(NUMBER) ? [] : (", "))", f"{show(*match.span(1))} += {show(start, end)} is dropped")
    return found


def condition(code, start, end, wrap, show):
    if re.match(r"let\s|var\s|case\s|#|try|await|_ ", code[start:end]):
        return
    wrap("condition", start, end, "(Mutant.on(NUMBER) || (", "))", f"{show(start, end)} is not asked")
    if not re.search(r" ([<>]=?|==|!=) |^!", code[start:end]):
        wrap("condition", start, end, "(Mutant.on(NUMBER) != (", "))", f"{show(start, end)} is negated")


def drawn(seed, prefixes):
    """Yields the mutants of a seed. It draws a file, weighted by size, then a kind, then a mutant of that kind."""
    chance = random.Random(seed)
    left, sizes = {}, {}
    for path in sorted((ROOT / CORE).rglob("*.swift")):
        text = path.read_text()
        name = path.relative_to(ROOT)
        found = mutants_of(name, text)
        if found and str(name.relative_to(CORE)).startswith(prefixes):
            left[name] = found
            sizes[name] = sum(1 for line in masked(text).splitlines() if line.strip())
    while left:
        [name] = chance.choices(list(left), [sizes[name] for name in left])
        kind = chance.choice(sorted({mutant.kind for mutant in left[name]}))
        mutant = chance.choice([mutant for mutant in left[name] if mutant.kind == kind])
        # Leaves out other mutants at the same place, which would be much the same mistake.
        left[name] = [
            other for other in left[name] if other.end <= mutant.start or mutant.end <= other.start
            or (other.start < mutant.start and mutant.end < other.end)
            or (mutant.start < other.start and other.end < mutant.end)]
        if not left[name]:
            del left[name]
        yield mutant


# ---- Building one binary with all mutants


def copy_package():
    """Copies only the files that have changed, so that the next build is short."""
    wanted = {}
    for name in COPIED:
        source = ROOT / name
        for path in [source] if source.is_file() else source.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                wanted[path.relative_to(ROOT)] = path
    for path, source in wanted.items():
        if CORE not in path.parents or path.suffix != ".swift":
            put(PACKAGE / path, source.read_bytes())
    for name in ("Sources", "Tests"):
        for path in [path for path in (PACKAGE / name).rglob("*.swift") if path.relative_to(PACKAGE) not in wanted]:
            path.unlink()


def put(path, content):
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def write_sources(mutants):
    for path in (ROOT / CORE).rglob("*.swift"):
        name = path.relative_to(ROOT)
        text = path.read_text()
        edits = [
            (start, end, mutant.end - mutant.start, mutant.named(new))
            for mutant in mutants if mutant.path == name for start, end, new in mutant.edits]
        # Edits from the end of the file; at the same place, the wider edit is the outer one.
        for start, end, _, new in sorted(edits, key=lambda edit: (-edit[0], -edit[1])):
            text = text[:start] + new + text[end:]
        put(PACKAGE / name, text.encode())
    declarations = "".join(mutant.named(mutant.declaration) for mutant in mutants)
    put(PACKAGE / CORE / "Mutant.swift", (SWITCH + "\n" + declarations).encode())


def swift(*arguments):
    environment = {**os.environ, "HEARTH_TESTS": "HearthCoreTests"}
    command = [os.environ.get("SWIFT", "swift"), "build", "--package-path", str(PACKAGE), "--scratch-path", str(SCRATCH)]
    return subprocess.run(
        [*command, *arguments], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def built(seed, count, prefixes):
    """Builds the binary. Returns the mutants in it."""
    copy_package()
    draw = drawn(seed, prefixes)
    mutants, number = [], 0
    while True:
        while len(mutants) < count and (mutant := next(draw, None)):
            mutant.number, number = number, number + 1
            mutants.append(mutant)
        write_sources(mutants)
        build = swift("--target", "HearthCore")
        if build.returncode == 0:
            build = swift("--product", "hearthPackageTests")
        if build.returncode == 0:
            return mutants
        bad = []
        for file, line in re.findall(r"^(/.*?):(\d+):\d+: error:", build.stdout, re.MULTILINE):
            path, line = Path(os.path.relpath(file, PACKAGE)), int(line)
            here = [mutant for mutant in mutants if mutant.path == path]
            on_it = [mutant for mutant in here if mutant.line <= line <= mutant.last_line]
            bad += on_it or sorted(here, key=lambda mutant: abs(mutant.line - line))[:1]
        if not bad:
            sys.exit(f"{build.stdout}\nThe copy in {PACKAGE} does not build.")
        print(f"{len({mutant.number for mutant in bad})} mutants do not compile and are replaced.", flush=True)
        mutants = [mutant for mutant in mutants if mutant not in bad]


# ---- Running the tests

SIMULATED = r"HearthCoreTests\..*SimulationTests/"
# Tests that take longer than all others together, except for the simulations.
LONG = r"TimestampTests/everyDay|RefreshTests/leastGap|ShownTextTests/time|RedactorTests/time"
# A few histories find most of what all of them find, so they run first.
STAGES = [
    (["--filter", "HearthCoreTests", "--skip", f"{SIMULATED}|{LONG}"], {}), (["--filter", LONG], {}),
    (["--filter", SIMULATED], {"HEARTH_SIMULATION_SEEDS": "100"}), (["--filter", SIMULATED], {}),
]


def run(stage, number=None, limit=None):
    """Runs a stage. Returns what killed the mutant, or None, and the processor time in seconds."""
    arguments, more = stage
    environment = {**os.environ, **more, "SWIFT_BACKTRACE": "enable=no", "SWIFT_DETERMINISTIC_HASHING": "1"}
    if number is not None:
        environment["HEARTH_MUTANT"] = str(number)

    def restrict():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))

    process = subprocess.Popen(
        [str(SCRATCH / "debug/hearthPackageTests.xctest"), "--testing-library", "swift-testing", *arguments],
        env=environment, preexec_fn=restrict, text=True, errors="replace", stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    # On a busy machine a run takes longer, but not more processor time. So this limit is only for runs that wait.
    ended_late = threading.Event()
    timer = threading.Timer(limit * 10 if limit else 3600, lambda: (ended_late.set(), process.kill()))
    timer.start()
    killer, crash, passed = None, None, False
    for line in process.stdout:
        line = re.sub(r"\x1b\[[\d;]*m", "", line)
        if found := re.search(r"✘ Test (\".*?\"|\S+) recorded an issue.*? at (\S+?:\d+)", line):
            killer = f"{found[1]} ({found[2]})"
            process.kill()
            break
        if "Fatal error" in line or "error: " in line:
            crash = crash or line.strip()
        passed = passed or re.search(r"Test run with [1-9]\d* tests? .*passed", line) is not None
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    timer.cancel()
    seconds = usage.ru_utime + usage.ru_stime
    if killer is None and (ended_late.is_set() or process.returncode == -signal.SIGXCPU):
        killer = "a hang"
    elif killer is None and (process.returncode != 0 or not passed):
        killer = f"a crash ({crash or f'status {process.returncode}'})"
    return killer, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="seed of the mutants to draw (default 1)")
    parser.add_argument("--count", type=int, default=100, help="number of mutants (default 100)")
    parser.add_argument(
        "--files", nargs="+", default=[""], metavar="PREFIX", help="draw only from files below HearthCore that begin so")
    options = parser.parse_args()

    began = time.monotonic()
    mutants = built(options.seed, options.count, tuple(options.files))
    print(f"{len(mutants)} mutants of seed {options.seed}, built in {time.monotonic() - began:.0f} s.", flush=True)
    verdicts = tried(mutants)
    count = Counter(verdicts[mutant.number][0] for mutant in mutants)
    lived = [mutant for mutant in mutants if verdicts[mutant.number][0] == "SURVIVED"]
    print(
        f"\n{count['killed']} of {len(mutants)} mutants were killed, {count['equivalent']} have no effect, "
        f"{count['SURVIVED']} survived, in {time.monotonic() - began:.0f} s.")
    for mutant in lived:
        print(f"SURVIVED {mutant.path}:{mutant.line}: {mutant.change} (HEARTH_MUTANT={mutant.number})")
    if count["killed"] < WANTED * (count["killed"] + count["SURVIVED"]):
        sys.exit(1)


def tried(mutants):
    """The verdict on each mutant. The simulations take longest, so only mutants that survive all other tests get
    there."""
    verdicts = {mutant.number: ("equivalent", mutant.reason()) for mutant in mutants if mutant.reason()}
    for stage in STAGES:
        left = [mutant for mutant in mutants if mutant.number not in verdicts]
        if not left:
            break
        failure, seconds = run(stage)
        if failure:
            sys.exit(f"The tests fail without a mutant: {failure}")
        limit = int(seconds * 3) + 10
        print(f"Running {len(left)} mutants with {stage}, for at most {limit} s each.", flush=True)
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            runs = {pool.submit(run, stage, mutant.number, limit): mutant for mutant in left}
            for done in as_completed(runs):
                mutant, (killer, _) = runs[done], done.result()
                if killer:
                    verdicts[mutant.number] = ("killed", killer)
                    print(f"{mutant}: killed by {killer}", flush=True)
    for mutant in mutants:
        verdict, why = verdicts.setdefault(mutant.number, ("SURVIVED", None))
        if verdict != "killed":
            print(f"{mutant}: {verdict}{f': {why}' if why else ''}", flush=True)
    return verdicts


if __name__ == "__main__":
    main()
