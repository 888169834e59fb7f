"""Refreshes with a lost or late answer: the provider has rotated the token, but the daemon does not know the new
one."""

import signal

from checks import check
from checks.ends import expect_ended
from stage import LIMIT, await_that, expect, fingerprint, oidc


def kill_in_mid_refresh(stage, **settings):
    """Kills the daemon during a refresh and restarts it. Returns the provider and the refresh token that it
    replaced."""
    provider = stage.provider(**settings)
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    spent = stage.stored_refresh_token()
    provider.trouble(refreshes_held=True)
    stage.begin("refresh", "work")
    await_that("the provider has rotated the token", lambda: provider.refreshes(token=fingerprint(spent)))
    stage.end(stage.daemon, signal.SIGKILL)
    provider.trouble(refreshes_held=False)
    expect(stage.stored_refresh_token() == spent, "the answer had already arrived")
    expect(not provider.holds_refresh_token(spent), "the provider has not rotated the token")
    stage.start_daemon()
    return provider, spent


def use_old_token(stage, provider):
    """Does as a client: uses the token, gets a 401 and reports it. Returns the session afterwards."""
    token = stage.hearthctl("token", "work", "--min-valid", "0")
    expect(stage.call(provider, token) == 401, "the provider still accepts the token that it replaced")
    return stage.rpc("session.reportUnauthorized", account="work", fingerprint=fingerprint(token))


@check("kill-with-grace")
def kill_with_grace(stage):
    provider, spent = kill_in_mid_refresh(stage, REFRESH_TOKEN_GRACE_PERIOD_SECONDS=600)
    told = use_old_token(stage, provider)
    expect(told["state"] == "authenticated", f"the session is {told}")
    expect(stage.call(provider, stage.hearthctl("token", "work")) == 200, "the API rejects the new token")
    expect(provider.holds_refresh_token(stage.stored_refresh_token()), "the stored token is not the provider's newest")
    statuses = [call["status"] for call in provider.refreshes(token=fingerprint(spent))]
    expect(statuses == [200, 200], f"the refresh token was answered {statuses}, not granted before and after the crash")
    stage.hearthctl("refresh", "work")
    return "the session continues with the grant from before the crash"


@check("kill-without-grace")
def kill_without_grace(stage):
    provider, spent = kill_in_mid_refresh(stage, REFRESH_TOKEN_GRACE_PERIOD_SECONDS=0)
    use_old_token(stage, provider)
    expect_ended(stage, provider, spent)
    statuses = [call["status"] for call in provider.refreshes(token=fingerprint(spent))]
    expect(statuses == [200, 400], f"the refresh token was answered {statuses}, not granted once and refused once")
    return "the session has ended, as this provider accepts a refresh token only once"


@check("sigterm")
def sigterm(stage):
    """The daemon is told to stop before a provider without a grace period has answered: it waits for the answer."""
    provider = stage.provider(REFRESH_TOKEN_GRACE_PERIOD_SECONDS=0, REFRESH_TOKEN_REUSE_PROTECTION=True)
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    spent = stage.stored_refresh_token()
    provider.trouble(refreshes_held=True)
    stage.begin("refresh", "work")
    await_that("the provider has rotated the token", lambda: provider.refreshes(token=fingerprint(spent)))
    stage.daemon.send_signal(signal.SIGTERM)
    await_that("the socket is closed", lambda: stage.run("rpc", "daemon.getInfo").returncode == 6)
    expect(stage.daemon.poll() is None, "hearthd did not wait for the answer")
    provider.trouble(refreshes_held=False)
    status = stage.daemon.wait(LIMIT)
    expect(status == 0, f"hearthd ended with {status}")
    stored = stage.stored_refresh_token()
    expect(stored != spent, "hearthd ended without storing the new grant")
    expect(provider.holds_refresh_token(stored), "the stored token is not the provider's newest")

    stage.start_daemon()
    stage.expect_state("authenticated")
    token = stage.hearthctl("token", "work", "--min-valid", "0")
    expect(stage.call(provider, token) == 200, "the API rejects the new token")
    stage.hearthctl("refresh", "work")
    return "stored the late grant before stopping, and continued with it"


@check("lost-reply")
def lost_reply(stage):
    """The connection breaks after the provider has rotated the token: Hearth retries at once with the same token."""
    providers = {
        "work": stage.provider("strict", REFRESH_TOKEN_GRACE_PERIOD_SECONDS=0),
        "graced": stage.provider("graced", REFRESH_TOKEN_GRACE_PERIOD_SECONDS=600),
    }
    for provider in providers.values():
        provider.client()
    stage.configure({account: oidc(provider) for account, provider in providers.items()})
    stage.start_daemon()
    spent = {}
    for account, provider in providers.items():
        stage.sign_in(provider.grant()["refresh_token"], account)
        spent[account] = stage.stored_refresh_token(account)
        provider.trouble(refresh_replies_lost=1)
        stage.hearthctl("refresh", account, status=0 if account == "graced" else 3)
    statuses = {
        account: [call["status"] for call in provider.refreshes(token=fingerprint(spent[account]))]
        for account, provider in providers.items()
    }
    expect(statuses == {"work": [200, 400], "graced": [200, 200]}, f"the refresh tokens were answered {statuses}")
    stored = stage.stored_refresh_token("graced")
    expect(providers["graced"].holds_refresh_token(stored), "the stored token is not the provider's newest")
    stage.hearthctl("refresh", "graced")
    expect_ended(stage, providers["work"], spent["work"])
    return "retried at once: the session continues with a grace period, and ends without one"
