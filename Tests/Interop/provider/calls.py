"""What the provider was asked, and what it did: one JSON object a line, in calls.jsonl, for the checks to read."""

import hashlib
import json
import threading

from django.conf import settings

_lock = threading.Lock()


def record(**call):
    with _lock, open(settings.FOLDER / "calls.jsonl", "a") as file:
        file.write(json.dumps(call) + "\n")


def fingerprint(token):
    """The name by which Hearth, too, calls a token: the first 8 hex digits of its SHA-256."""
    return hashlib.sha256(token.encode()).hexdigest()[:8] if token else None
