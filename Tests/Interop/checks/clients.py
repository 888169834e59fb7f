"""The clients of one file each, which other people's programs take in, against the daemon."""

import importlib.util
import queue
import sys
import threading

import programs
from checks import check
from sandbox import Sandbox
from stage import LIMIT, expect, oidc

ROTATIONS = 3


def module(name):
    specification = importlib.util.spec_from_file_location(name, programs.ETC / "clients" / f"{name}.py")
    found = importlib.util.module_from_spec(specification)
    # dataclasses look their module up.
    sys.modules[name] = found
    specification.loader.exec_module(found)
    return found


def expect_refused(call, kind, retryable, error):
    try:
        call()
    except error as refusal:
        expect((refusal.kind, refusal.retryable) == (kind, retryable), f"{refusal.kind}: {refusal}")
        return refusal
    expect(False, f"a call that should be refused ({kind}) was answered")


@check("clients")
def clients(stage):
    """Python: a token through three rotations, a request, a report of a 401, refusals, and events across a restart."""
    client, sandbox = module("hearth"), Sandbox(stage)
    stage.providers.append(sandbox)
    stage.configure({"work": oidc(sandbox)})
    error = expect_refused(lambda: client.Hearth(stage.socket), None, True, client.HearthError)
    expect("hearthd" in str(error), str(error))
    stage.start_daemon()
    stage.sign_in(sandbox.grant(subject="ada", scope="openid offline_access")["refresh_token"])

    events = queue.Queue()

    def follow():
        for event in client.follow("work", stage.socket):
            events.put(event)

    threading.Thread(target=follow, daemon=True).start()

    def expect_event(method):
        while True:
            event = events.get(timeout=LIMIT)
            if event["method"] == method:
                return event

    expect(expect_event("snapshot")["sessions"][0]["state"] == "authenticated", "the snapshot has no session")
    seen = set()
    with client.Hearth(stage.socket) as hearth:
        for _ in range(ROTATIONS + 1):
            token = hearth.get_token("work", url=sandbox.url + "/api/me")
            expect(token.access_token == stage.hearthctl("token", "work"), "it is another token")
            expect(token.access_token not in repr(token), "the token is shown")
            seen.add(token.access_token)
            stage.hearthctl("refresh", "work")
            before = expect_event("session.refreshed")["previousFingerprint"]
            expect(before == token.fingerprint, "another token was refreshed")
        expect(len(seen) == ROTATIONS + 1, "the token was not replaced each time")
        answer = hearth.request("work", "GET", sandbox.url + "/api/whoami")
        expect(answer.status == 200 and b"ada" in answer.body, f"the API has answered {answer}")
        token = hearth.get_token("work")
        hearth.report_unauthorized("work", token)
        expect(hearth.get_token("work").fingerprint != token.fingerprint, "a report of a 401 brings no new token")
        other = "https://elsewhere.example.com/"
        expect_refused(lambda: hearth.get_token("work", url=other), "originNotAllowed", False, client.HearthError)
        stage.hearthctl("lock", "work")
        error = expect_refused(lambda: hearth.get_token("work"), "locked", True, client.HearthError)
        expect(error.action == "unlock" and "Locked" in str(error), f"{error.action}: {error}")
        stage.hearthctl("unlock", "work")
        stage.end_daemon()
        expect_refused(lambda: hearth.get_token("work"), None, True, client.HearthError)
    stage.start_daemon()
    expect_event("snapshot")
    return "Python"
