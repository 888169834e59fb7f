"""Reads calls from standard input, one JSON array per line, makes them with hearth.py, and prints the results. With the
argument "follow" it prints each event of the account."""

import json
import sys

from hearth import Hearth, HearthError, follow


def answer(hearth, call, *words):
    global last
    if call == "token":
        last = hearth.get_token("work", url=words[0] or None)
        return {
            "token": last.access_token, "authorization": last.authorization, "fingerprint": last.fingerprint,
            "printed": repr(last),
        }
    if call == "request":
        found = hearth.request("work", words[0], words[1], words[2].encode() or None)
        return {"status": found.status, "body": found.body.decode()}
    hearth.report_unauthorized("work", last)


def main():
    if sys.argv[1:]:
        for event in follow("work"):
            method = event.pop("method")
            print(json.dumps({"method": method, "params": event}), flush=True)
    hearth = None
    for line in sys.stdin:
        try:
            hearth = hearth or Hearth()
            value = answer(hearth, *json.loads(line))
        except HearthError as error:
            if error.kind is None:
                hearth = None
            data = {"kind": error.kind, "retryable": error.retryable, "action": error.action}
            value = {"error": {"message": str(error), "data": data}}
        print(json.dumps(value), flush=True)


main()
