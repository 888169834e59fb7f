"""GitHub's workflows and issue forms, checked against GitHub's own schemas, which check-jsonschema contains."""

import re

import programs
from checks import check
from stage import expect

ROOT = programs.ETC.parent
GITHUB = ROOT / ".github"
SCHEMAS = {
    "workflows/*.yml": "workflows", "ISSUE_TEMPLATE/config.yml": "issue-config", "ISSUE_TEMPLATE/[!c]*.yml": "issue-forms",
}


@check("workflows")
def workflows(stage):
    """The schemas accept all files, and every make target that a workflow runs exists."""
    found = programs.found(stage, "check-jsonschema")
    for pattern, schema in SCHEMAS.items() if found else ():
        files = sorted(GITHUB.glob(pattern))
        expect(files, f"no file matches {pattern}")
        done = found[0].run("--builtin-schema", f"vendor.github-{schema}", *files)
        expect(done.returncode == 0, f"GitHub would not accept {pattern}: {done.stdout}{done.stderr}")

    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = "".join(path.read_text() for path in sorted(GITHUB.glob("workflows/*.yml")))
    words = " ".join(re.findall(r"\bmake ((?:[a-z-]+ ?)+)", text)).split()
    used = {word for word in words if not word.startswith("-")}
    expect(used <= targets, f"workflows run make targets that do not exist: {sorted(used - targets)}")
    return f"{len(used)} make targets" + ("" if found else "; check-jsonschema is missing, so the schemas were not checked")
