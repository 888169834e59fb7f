"""A session that ends: for reuse of a refresh token, by the person at the provider, by signing out."""

import json

import signin
from checks import check
from stage import await_that, expect, fingerprint, oauth2, oidc

ENDED = "reauthRequired: refreshTokenRejected"


def expect_ended(stage, provider, token):
    """The session has ended because `token` was refused: it says so and sends it no more, nor after a restart."""

    def refused():
        return provider.refreshes(token=fingerprint(token), status=400)

    def expect_so():
        stage.expect_state(ENDED)
        said = stage.hearthctl("status", "work", status=3)
        expect("hearthctl login work" in said and "refreshTokenRejected" in said, f"the status does not tell: {said}")
        for verb in ("token", "refresh"):
            stage.hearthctl(verb, "work", status=3)
        file = stage.stored()
        expect("grant" not in file, "the credential file still holds a grant")
        expect(file["ended"]["reason"] == "refreshTokenRejected", f"the credential file says {file['ended']}")

    expect_so()
    stage.end_daemon()
    stage.start_daemon()
    expect_so()
    expect(len(refused()) == 1, f"the refused token was sent {len(refused())} times: {refused()}")


@check("reuse")
def reuse(stage):
    """Somebody uses a refresh token again that Hearth has used before; the provider revokes all that came of it."""
    provider = stage.provider(ACCESS_TOKEN_EXPIRE_SECONDS=8, REFRESH_TOKEN_REUSE_PROTECTION=True)
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    stolen = stage.stored_refresh_token()
    stage.hearthctl("refresh", "work")
    status, answer = provider.spend(stolen)
    expect((status, answer["error"]) == (400, "invalid_grant"), f"the provider answered {status} {answer}")
    # What Hearth holds: a refresh that was due meanwhile may have brought another one.
    [(current,)] = provider.rows("SELECT token FROM oauth2_provider_refreshtoken ORDER BY id DESC LIMIT 1")
    expect(not provider.holds_refresh_token(current), "the provider has not revoked what came of the stolen token")
    # It finds out by itself, when the next refresh is due.
    state = stage.state()
    expect(state == "authenticated" or provider.refreshes(token=fingerprint(current)), f"it is {state} before that")
    await_that("the session has ended", lambda: stage.state() == ENDED)
    expect_ended(stage, provider, current)
    return "ended at the next refresh, told so, and the refused token was sent once"


@check("revocation")
def revocation(stage):
    """The person takes the client's access away, on the provider's page."""
    provider = stage.provider()
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    current = stage.stored_refresh_token()
    access = stage.hearthctl("token", "work")
    [(key,)] = provider.rows("SELECT id FROM oauth2_provider_accesstoken WHERE token = ?", access)
    browser = signin.Browser(provider.url)
    browser.submit(browser.get(f"/o/authorized_tokens/{key}/delete/"))
    expect(not provider.holds_refresh_token(current), "the provider has not revoked the refresh token")

    expect(stage.call(provider, access) == 401, "the API still takes the token")
    told = stage.rpc("session.reportUnauthorized", account="work", fingerprint=fingerprint(access))
    expect(told["state"] == "reauthRequired", f"reported, the session is {told}")
    expect_ended(stage, provider, current)
    return "ended when the API refused the token and the provider the refresh, told so, and sent once"


@check("logout")
def logout(stage):
    """Signing out revokes at the provider, and says so where the provider could not be told."""
    provider = stage.provider()
    provider.client()
    # The endpoints are named: this provider's discovery tells of no revocation endpoint.
    stage.configure({"work": oauth2(provider), "offline": oauth2(provider)})
    stage.start_daemon()
    for account in ("work", "offline"):
        stage.sign_in(provider.grant()["refresh_token"], account)
    refresh, access = stage.stored_refresh_token(), stage.hearthctl("token", "work")
    expect(provider.holds_refresh_token(refresh) and provider.holds_access_token(access), "they are not known before")

    told = json.loads(stage.hearthctl("logout", "work", "--json"))
    expect(told["revoked"] is True, f"it does not say that they were revoked: {told}")
    expect(not provider.holds_refresh_token(refresh), "the refresh token is not revoked")
    expect(not provider.holds_access_token(access), "the access token is not revoked")
    expect(stage.call(provider, access) == 401, "the API still takes the token")
    stage.expect_state("unauthenticated: signedOut")
    stage.hearthctl("status", "work", status=3)
    expect(stage.stored_refresh_token("offline") and stage.state("offline") == "authenticated", "another session ended")

    refresh = stage.stored_refresh_token("offline")
    provider.stop()
    said = stage.hearthctl("logout", "offline")
    expect("goes on trying" in said, f"it does not say that the grant is still to be revoked: {said}")
    stage.expect_state("unauthenticated: signedOut", "offline")
    provider.start()
    expect(provider.holds_refresh_token(refresh), "the provider has forgotten the refresh token by itself")
    # Whoever signs out again has it tried at once.
    stage.hearthctl("logout", "offline")
    await_that("the grant is revoked", lambda: not provider.holds_refresh_token(refresh))
    return "refresh and access token are revoked at the provider; offline it says so, and they are revoked later"
