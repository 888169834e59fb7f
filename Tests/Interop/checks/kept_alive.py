"""Sessions that last: short tokens, rotation, and tokens that stop working during a rotation."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from checks import check
from checks.metrics import samples
from stage import await_that, expect, fingerprint, oidc

# A refresh is due MARGIN seconds before expiry, or earlier by up to JITTER of that: every one or two seconds. So tokens
# are replaced often, but do not expire even if the machine stalls for half a minute.
LIFETIME, MARGIN, JITTER = 30, 28, 0.03
CLIENTS = 4
REFRESHES = 10


@check("short-tokens")
def short_tokens(stage):
    """Clients keep asking for tokens and using them across ten refreshes, and no call fails."""
    provider = stage.provider(ACCESS_TOKEN_EXPIRE_SECONDS=LIFETIME)
    provider.client()
    due = {"margin": f"{MARGIN}s", "margin_fraction": 0.95, "jitter": JITTER}
    stage.configure({"work": oidc(provider)}, refresh=due)
    began = time.monotonic()
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])

    done = threading.Event()
    crossed, wrong = [], []
    clients = [
        threading.Thread(target=use_tokens, args=(stage, provider, done, crossed, wrong)) for _ in range(CLIENTS)
    ]
    for client in clients:
        client.start()

    def used():
        """The tokens that the API has accepted."""
        expect(not wrong, f"a call failed: {wrong[:1]}")
        return {call["bearer"] for call in provider.calls("/api/me", status=200)}

    try:
        for count in range(1, REFRESHES + 2):
            await_that("another token is used", lambda: len(used()) >= count)
    finally:
        done.set()
        for client in clients:
            client.join()
    calls = len(provider.calls("/api/me", status=200))
    used()

    refreshes = provider.refreshes()
    took = time.monotonic() - began
    refused = provider.calls("/api/me", status=401)
    for call in refused:
        expect(is_rotated(refreshes, call), f"401 for {call}, whose token no rotation had replaced")
    seen = sorted(call["bearer"] for call in refused)
    expect(seen == sorted(crossed), f"the API answered 401 for {seen}, but the clients saw {sorted(crossed)}")
    expect_orderly(refreshes)
    # On a busy machine refreshes are later, but never earlier.
    most = took / (LIFETIME - MARGIN * (1 + JITTER)) + 1
    expect(len(refreshes) <= most, f"{len(refreshes)} refreshes in {took:.0f} s, but at most {most:.0f} were due")
    stage.expect_state("authenticated")

    def is_newest_stored():
        return provider.holds_refresh_token(stage.stored_refresh_token())

    await_that("the stored token is the provider's newest", is_newest_stored)
    return f"{calls} calls, none failed; {len(refreshes)} refreshes; {len(crossed)} calls during a rotation"


def use_tokens(stage, provider, done, crossed, wrong):
    """One client, which keeps getting a token and using it.

    At a rotation this provider invalidates the old access token at once, so a token from a moment ago may get a 401.
    The client then asks for the new one, which must arrive and be accepted."""
    try:
        while not done.is_set():
            token = stage.hearthctl("token", "work", "--min-valid", "1")
            status = stage.call(provider, token)
            while status == 401:
                crossed.append(fingerprint(token))
                token = await_that("a new token", lambda: other_token(stage, token))
                status = stage.call(provider, token)
            expect(status == 200, f"the API answered {status} for {fingerprint(token)}")
            time.sleep(0.1)
    except Exception as error:
        wrong.append(error)


def other_token(stage, old):
    token = stage.hearthctl("token", "work", "--min-valid", "1")
    return token if token != old else None


def is_rotated(refreshes, refused):
    """Whether the refresh that replaced the token had started when the call was refused."""
    places = [place for place, call in enumerate(refreshes) if call["issued"] == refused["bearer"]]
    successors = refreshes[places[0] + 1 :] if places else []
    return bool(successors) and successors[0]["began"] <= refused["ended"]


def expect_orderly(refreshes):
    """All refreshes succeeded, one at a time, and used each refresh token once."""
    refused = [call for call in refreshes if call["status"] != 200]
    expect(not refused, f"refused: {refused}")
    tokens = [call["token"] for call in refreshes]
    expect(len(set(tokens)) == len(tokens), f"a refresh token was used twice: {tokens}")
    for one, next_one in zip(refreshes, refreshes[1:]):
        expect(one["ended"] <= next_one["began"], f"two refreshes at once: {one}, {next_one}")


@check("rotation")
def rotation(stage):
    """Hearth stores the refresh token that the provider will accept next, with and without rotation."""
    rotating = stage.provider("rotating")
    steady = stage.provider("steady", ROTATE_REFRESH_TOKEN=False)
    for provider in (rotating, steady):
        provider.client()
    stage.configure({"work": oidc(rotating), "steady": oidc(steady)})
    stage.start_daemon()

    seen = [rotating.grant()["refresh_token"]]
    stage.sign_in(seen[0])
    for _ in range(4):
        seen.append(stage.stored_refresh_token())
        expect(rotating.holds_refresh_token(seen[-1]), f"the token stored after refresh {len(seen) - 1} is not valid")
        stage.hearthctl("refresh", "work")
    expect(len(set(seen)) == len(seen), "the provider issued a refresh token twice")
    expect_orderly(rotating.refreshes())

    token = steady.grant()["refresh_token"]
    stage.sign_in(token, "steady")
    access = set()
    for _ in range(3):
        stage.hearthctl("refresh", "steady")
        expect(stage.stored_refresh_token("steady") == token, "the refresh token changed without rotation")
        access.add(stage.hearthctl("token", "steady"))
    expect(len(access) == 3, "a refresh brought no new access token")
    return "stored each of 4 rotations; kept the token without rotation"


@check("crossing")
def crossing(stage):
    """401s for a token that is being rotated never end the session."""
    provider = stage.provider()
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    rounds = 3
    for number in range(1, rounds + 1):
        done = len(provider.refreshes())
        provider.trouble(refreshes_held=True)
        refreshing = stage.begin("refresh", "work")
        await_that("the provider has rotated the token", lambda: len(provider.refreshes()) > done)
        old = stage.hearthctl("token", "work", "--min-valid", "0")
        stage.hearthctl("outbox", "add", "work", "POST", provider.url + "/api/notes", "--data", f"note {number}")
        expect(stage.call(provider, old) == 401, "the provider still accepts the token that it replaced")
        refused = {"status": 401, "bearer": fingerprint(old)}
        await_that("the API rejects the outbox's request too", lambda: provider.calls("/api/notes", **refused))
        with ThreadPoolExecutor() as pool:
            report = pool.submit(stage.rpc, "session.reportUnauthorized", account="work", fingerprint=fingerprint(old))
            # The connections are the refresh, the report and the call for the metrics.
            await_that("the report arrives", lambda: report.done() or connections(stage) == 3)
            provider.trouble(refreshes_held=False)
            told = report.result()
        expect(told["state"] == "authenticated", f"after a report in rotation {number}, the session is {told}")
        expect(stage.end(refreshing, number=0) == 0, "the refresh under way failed")
        new = stage.hearthctl("token", "work", "--min-valid", "0")
        expect(new != old and stage.call(provider, new) == 200, f"there is no valid token after rotation {number}")
    notes = [f"note {number}" for number in range(1, rounds + 1)]
    await_that("the notes are delivered", lambda: provider.effects() == notes)
    refreshes = provider.refreshes()
    expect(len(refreshes) == 1 + rounds, f"{len(refreshes)} refreshes instead of {1 + rounds}")
    expect_orderly(refreshes)
    return f"refused {rounds} times during a rotation, and each time accepted with the new token"


def connections(stage):
    return samples(stage.run("metrics").stdout)[("hearth_connections",)]
