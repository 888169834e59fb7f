"""A session that goes on: short tokens, rotation, and tokens that die while they are being rotated."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from checks import check
from checks.metrics import samples
from stage import await_that, expect, fingerprint, oidc

# A refresh is due MARGIN before expiry, up to JITTER of that earlier: every one or two seconds. So tokens are replaced
# often, and none of them runs out on a machine that does nothing for half a minute.
LIFETIME, MARGIN, JITTER = 30, 28, 0.03
CLIENTS = 4
REFRESHES = 10


@check("short-tokens")
def short_tokens(stage):
    """Clients ask for tokens and use them without a break across ten refreshes, and none of them ever fails."""
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
        """The tokens that the API has taken."""
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
        expect(is_rotated(refreshes, call), f"401 to {call}, a token which no rotation had replaced")
    seen = sorted(call["bearer"] for call in refused)
    expect(seen == sorted(crossed), f"the API answered 401 to {seen}, the clients saw {sorted(crossed)}")
    expect_orderly(refreshes)
    # A busy machine makes them later, never earlier.
    most = took / (LIFETIME - MARGIN * (1 + JITTER)) + 1
    expect(len(refreshes) <= most, f"{len(refreshes)} refreshes in {took:.0f} s, where {most:.0f} at most were due")
    stage.expect_state("authenticated")

    def is_newest_stored():
        return provider.holds_refresh_token(stage.stored_refresh_token())

    await_that("what is stored is the provider's newest", is_newest_stored)
    return f"{calls} calls, none failed; {len(refreshes)} refreshes; {len(crossed)} calls met a rotation under way"


def use_tokens(stage, provider, done, crossed, wrong):
    """One client: gets a token and uses it, again and again.

    At a rotation this provider drops the old access token at once, so that one which was handed out a moment before
    can be answered 401. A client then asks for the new one, which has to come and to be taken.
    """
    try:
        while not done.is_set():
            token = stage.hearthctl("token", "work", "--min-valid", "1")
            status = stage.call(provider, token)
            while status == 401:
                crossed.append(fingerprint(token))
                token = await_that("a new token", lambda: other_token(stage, token))
                status = stage.call(provider, token)
            expect(status == 200, f"the API answered {status} to {fingerprint(token)}")
            time.sleep(0.1)
    except Exception as error:
        wrong.append(error)


def other_token(stage, old):
    token = stage.hearthctl("token", "work", "--min-valid", "1")
    return token if token != old else None


def is_rotated(refreshes, refused):
    """The refresh that replaced the token had begun when the call was refused."""
    places = [place for place, call in enumerate(refreshes) if call["issued"] == refused["bearer"]]
    successors = refreshes[places[0] + 1 :] if places else []
    return bool(successors) and successors[0]["began"] <= refused["ended"]


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
        provider.trouble(refreshes_held=True)
        refreshing = stage.begin("refresh", "work")
        await_that("the provider has rotated the token", lambda: len(provider.refreshes()) > done)
        old = stage.hearthctl("token", "work", "--min-valid", "0")
        stage.hearthctl("outbox", "add", "work", "POST", provider.url + "/api/notes", "--data", f"note {number}")
        expect(stage.call(provider, old) == 401, "the provider still takes the token that it has replaced")
        refused = {"status": 401, "bearer": fingerprint(old)}
        await_that("the outbox is refused, too", lambda: provider.calls("/api/notes", **refused))
        with ThreadPoolExecutor() as pool:
            report = pool.submit(stage.rpc, "session.reportUnauthorized", account="work", fingerprint=fingerprint(old))
            # The refresh, the report and whoever asks for the metrics.
            await_that("the report has come", lambda: report.done() or connections(stage) == 3)
            provider.trouble(refreshes_held=False)
            told = report.result()
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


def connections(stage):
    return samples(stage.run("metrics").stdout)[("hearth_connections",)]
