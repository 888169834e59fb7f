#!/usr/bin/env python3
"""sbom.py VERSION PROGRAMS: writes the SBOM (SPDX 2.3, JSON) of the programs in the folder PROGRAMS. It lists Hearth, Swift's
runtime library, and the Swift packages in Package.resolved, with the licenses from their checkouts in .build."""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ["hearthd", "hearthctl", "hearth-oidc-agent", "hearth-sandbox"]


def license_of(folder):
    """The license, recognized by its text; NOASSERTION if it is missing or unknown."""
    for file in sorted(folder.glob("LICENSE*")):
        words = " ".join(file.read_text().split())
        if "Apache License Version 2.0" in words:
            return "Apache-2.0"
        if "Permission is hereby granted, free of charge" in words:
            return "MIT"
    return "NOASSERTION"


def package(name, version, location, license, **more):
    identity = re.sub(r"[^A-Za-z0-9.-]", "-", name)
    return {
        "SPDXID": f"SPDXRef-Package-{identity}", "name": name, "versionInfo": version, "downloadLocation": location,
        "filesAnalyzed": False, "licenseConcluded": license, "licenseDeclared": license, "copyrightText": "NOASSERTION",
    } | more


def swift():
    said = subprocess.run([os.environ.get("SWIFT", "swift"), "--version"], capture_output=True, text=True).stdout
    found = re.search(r"Swift version (\S+)", said)
    return package(
        "swift", found[1] if found else "NOASSERTION", "https://github.com/swiftlang/swift", "Apache-2.0",
        comment="The runtime library and Foundation, which are linked into each program.")


def pinned():
    resolved = json.loads((ROOT / "Package.resolved").read_text())
    for pin in sorted(resolved["pins"], key=lambda pin: pin["identity"]):
        location, state = pin["location"].removesuffix(".git"), pin["state"]
        folder = ROOT / ".build" / "checkouts" / location.rsplit("/", 1)[1]
        owner = location.removeprefix("https://")
        yield package(
            pin["identity"], state.get("version", state["revision"]), f"git+{location}@{state['revision']}",
            license_of(folder), externalRefs=[{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:swift/{owner}@{state.get('version', state['revision'])}"}])


def main(version, programs):
    hearth = package(
        "hearth", version, "NOASSERTION", "Apache-2.0", primaryPackagePurpose="APPLICATION",
        comment="Programs, by SHA-256: " + ", ".join(
            f"{name} {hashlib.sha256((programs / name).read_bytes()).hexdigest()}" for name in PROGRAMS))
    parts = [swift(), *pinned()]
    content = hashlib.sha256(json.dumps([hearth, parts]).encode()).hexdigest()
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"hearth-{version}", "documentNamespace": f"https://spdx.org/spdxdocs/hearth-{version}-{content[:32]}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: hearth-sbom.py"]},
        "packages": [hearth, *parts],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": hearth["SPDXID"]},
            *({"spdxElementId": hearth["SPDXID"], "relationshipType": "DEPENDS_ON", "relatedSpdxElement": part["SPDXID"]}
              for part in parts),
        ],
    }
    print(json.dumps(document, indent=2))


main(sys.argv[1], pathlib.Path(sys.argv[2]))
