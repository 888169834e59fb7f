"""A session that goes on: short tokens, rotation, and tokens that die while they are being rotated."""

import threading
import time

from checks import check
from stage import await_that, expect, fingerprint, oidc

LIFETIME = 8
MARGIN = 2
CLIENTS = 4
SECONDS = 60
# What a busy machine may need to write a grant down after the provider has made it.
SLACK = 2


@check("short-tokens")
def short_tokens(stage):
    """Clients ask for tokens and use them without a break, and none of them ever fails."""
    provider = stage.provider(ACCESS_TOKEN_EXPIRE_SECONDS=LIFETIME)
    provider.client()
    stage.configure({"work": oidc(provider)}, refresh={"margin": f"{MARGIN}s", "margin_fraction": 0.25, "jitter": 0.1})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    before = len(provider.refreshes())

    end = time.monotonic() + SECONDS
    calls, crossed, wrong = [], [], []
    clients = [
        threading.Thread(target=use_tokens, args=(stage, provider, end, calls, crossed, wrong)) for _ in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    expect(not wrong, f"{len(wrong)} of {len(calls)} calls failed; the first: {wrong[:1]}")

    refreshes = provider.refreshes()
    for token, since, until in crossed:
        expect(is_rotated(refreshes, token, since, until), f"401 to {token}, which no rotation had replaced")
    refused = provider.calls("/api/me", status=401)
    expect(len(refused) == len(crossed), f"the API answered 401 {len(refused)} times, the clients saw {len(crossed)}")
    expect_orderly(refreshes)
    count = len(refreshes) - before
    # Each is due MARGIN before expiry, up to a tenth of it earlier; a busy machine makes it later, never past expiry.
    least, most = SECONDS // LIFETIME, round(SECONDS / (LIFETIME - 1.1 * MARGIN)) + 1
    expect(least <= count <= most, f"{count} refreshes in {SECONDS} s, where {least} to {most} were due")
    expect(len(calls) >= SECONDS * CLIENTS, f"only {len(calls)} calls: the clients did not get to work")
    stage.expect_state("authenticated")
    expect(provider.holds_refresh_token(stage.stored_refresh_token()), "what is stored is not the provider's newest")
    return f"{len(calls)} calls, none failed; {count} refreshes; {len(crossed)} calls met a rotation under way"


def use_tokens(stage, provider, end, calls, crossed, wrong):
    """One client: gets a token and uses it, again and again.

    At a rotation this provider drops the old access token at once, so that one which was handed out a moment before
    can be answered 401. A client then asks for the new one, which has to come and to be taken.
    """
    try:
        while time.monotonic() < end:
            since = time.time()
            token = stage.hearthctl("token", "work", "--min-valid", "1")
            status = stage.call(provider, token)
            if status == 401:
                crossed.append((fingerprint(token), since, time.time()))
                token = await_that("a new token", lambda: other_token(stage, token), SLACK)
                status = stage.call(provider, token)
            expect(status == 200, f"the API answered {status} to {fingerprint(token)}")
            calls.append(status)
            time.sleep(0.1)
    except Exception as error:
        wrong.append(error)


def other_token(stage, old):
    token = stage.hearthctl("token", "work", "--min-valid", "1")
    return token if token != old else None


def is_rotated(refreshes, token, since, until):
    """The refresh that replaced the token was under way at some time between the two."""
    places = [place for place, call in enumerate(refreshes) if call["issued"] == token]
    successors = refreshes[places[0] + 1 :] if places else []
    return bool(successors) and successors[0]["began"] <= until and successors[0]["ended"] + SLACK >= since


def expect_orderly(refreshes):
    """All were granted, one at a time, and no refresh token was used twice."""
    refused = [call for call in refreshes if call["status"] != 200]
    expect(not refused, f"refused: {refused}")
    tokens = [call["token"] for call in refreshes]
    expect(len(set(tokens)) == len(tokens), f"a refresh token was used twice: {tokens}")
    for one, next_one in zip(refreshes, refreshes[1:]):
        expect(one["ended"] <= next_one["began"], f"two refreshes at once: {one}, {next_one}")


@check("rotation")
def rotation(stage):
    """What is stored is what the provider will take next, whether it rotates or not."""
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
        expect(rotating.holds_refresh_token(seen[-1]), f"what is stored after refresh {len(seen) - 1} is not good")
        stage.hearthctl("refresh", "work")
    expect(len(set(seen)) == len(seen), "a refresh token came twice")
    expect_orderly(rotating.refreshes())

    token = steady.grant()["refresh_token"]
    stage.sign_in(token, "steady")
    access = set()
    for _ in range(3):
        stage.hearthctl("refresh", "steady")
        expect(stage.stored_refresh_token("steady") == token, "the refresh token changed though nobody rotated it")
        access.add(stage.hearthctl("token", "steady"))
    expect(len(access) == 3, "a refresh brought no new access token")
    return "4 rotations, each stored; without rotation the token stays"


@check("crossing")
def crossing(stage):
    """A 401 to a token that is being rotated away is no reason to end the session, however often it happens."""
    provider = stage.provider()
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    rounds = 3
    for number in range(1, rounds + 1):
        done = len(provider.refreshes())
        provider.trouble(refresh_delay=2)
        refreshing = stage.begin("refresh", "work")
        await_that("the provider has rotated the token", lambda: len(provider.refreshes()) > done)
        old = stage.hearthctl("token", "work", "--min-valid", "0")
        stage.hearthctl("outbox", "add", "work", "POST", provider.url + "/api/notes", "--data", f"note {number}")
        expect(stage.call(provider, old) == 401, "the provider still takes the token that it has replaced")
        provider.trouble(refresh_delay=0)
        told = stage.rpc("session.reportUnauthorized", account="work", fingerprint=fingerprint(old))
        expect(told["state"] == "authenticated", f"reported in rotation {number}, the session is {told}")
        expect(stage.end(refreshing, number=0) == 0, "the refresh under way failed")
        new = stage.hearthctl("token", "work", "--min-valid", "0")
        expect(new != old and stage.call(provider, new) == 200, f"no good token after rotation {number}")
    notes = [f"note {number}" for number in range(1, rounds + 1)]
    await_that("what was written meanwhile is delivered", lambda: provider.effects() == notes)
    refreshes = provider.refreshes()
    expect(len(refreshes) == 1 + rounds, f"{len(refreshes)} refreshes, where {1 + rounds} were asked for")
    expect_orderly(refreshes)
    return f"{rounds} times refused in mid-rotation, and each time good again with the token that came of it"
