"""A refresh whose answer is lost or late: the provider has rotated the token, and the daemon does not know it."""

import signal

from checks import check
from checks.ends import expect_ended
from stage import LIMIT, await_that, expect, fingerprint, oidc


def kill_in_mid_refresh(stage, **settings):
    """Returns the provider and the refresh token that it has replaced, when the daemon is up again."""
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
    expect(stage.stored_refresh_token() == spent, "the answer arrived: this was not in mid-refresh")
    expect(not provider.holds_refresh_token(spent), "the provider has not rotated the token")
    stage.start_daemon()
    return provider, spent


def use_old_token(stage, provider):
    """As a client does: uses what it is given, is answered 401, and reports it. What the session is then."""
    token = stage.hearthctl("token", "work", "--min-valid", "0")
    expect(stage.call(provider, token) == 401, "the provider still takes the token that it has replaced")
    return stage.rpc("session.reportUnauthorized", account="work", fingerprint=fingerprint(token))


@check("kill-with-grace")
def kill_with_grace(stage):
    provider, spent = kill_in_mid_refresh(stage, REFRESH_TOKEN_GRACE_PERIOD_SECONDS=600)
    told = use_old_token(stage, provider)
    expect(told["state"] == "authenticated", f"the session is {told}")
    expect(stage.call(provider, stage.hearthctl("token", "work")) == 200, "the new token is not good")
    expect(provider.holds_refresh_token(stage.stored_refresh_token()), "what is stored is not the provider's newest")
    statuses = [call["status"] for call in provider.refreshes(token=fingerprint(spent))]
    expect(statuses == [200, 200], f"the refresh token was answered {statuses}, not granted before and after the crash")
    stage.hearthctl("refresh", "work")
    return "the session goes on with what the provider had granted before"


@check("kill-without-grace")
def kill_without_grace(stage):
    provider, spent = kill_in_mid_refresh(stage, REFRESH_TOKEN_GRACE_PERIOD_SECONDS=0)
    use_old_token(stage, provider)
    expect_ended(stage, provider, spent)
    statuses = [call["status"] for call in provider.refreshes(token=fingerprint(spent))]
    expect(statuses == [200, 400], f"the refresh token was answered {statuses}, not granted once and refused once")
    return "the session has ended, by this provider's rule and no fault: a spent refresh token is good for nothing"


@check("sigterm")
def sigterm(stage):
    """The provider has not answered yet, knows no grace, and the daemon is told to stop: it waits for the answer."""
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
    expect(stage.daemon.poll() is None, "hearthd has ended without the answer")
    provider.trouble(refreshes_held=False)
    status = stage.daemon.wait(LIMIT)
    expect(status == 0, f"hearthd ended with {status}")
    stored = stage.stored_refresh_token()
    expect(stored != spent, "hearthd ended without the grant that the provider gave meanwhile")
    expect(provider.holds_refresh_token(stored), "what is stored is not the provider's newest")

    stage.start_daemon()
    stage.expect_state("authenticated")
    token = stage.hearthctl("token", "work", "--min-valid", "0")
    expect(stage.call(provider, token) == 200, "the new token is not good")
    stage.hearthctl("refresh", "work")
    return "stopped with the new grant on disk, though it came late, and went on with it"


@check("lost-reply")
def lost_reply(stage):
    """The connection breaks once the provider has rotated the token: Hearth asks again at once with the same one."""
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
    expect(providers["graced"].holds_refresh_token(stored), "what is stored is not the provider's newest")
    stage.hearthctl("refresh", "graced")
    expect_ended(stage, providers["work"], spent["work"])
    return "asked again at once: with grace the session goes on, without it has ended by the provider's rule"
