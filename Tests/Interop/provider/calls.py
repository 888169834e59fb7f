"""The calls that the provider received and what it did, for the checks: one JSON object per line in calls.jsonl."""

import hashlib
import json
import threading

from django.conf import settings

_lock = threading.Lock()


def record(**call):
    with _lock, open(settings.FOLDER / "calls.jsonl", "a") as file:
        file.write(json.dumps(call) + "\n")


def fingerprint(token):
    """The first 8 hex digits of the token's SHA-256, by which Hearth also identifies tokens."""
    return hashlib.sha256(token.encode()).hexdigest()[:8] if token else None
