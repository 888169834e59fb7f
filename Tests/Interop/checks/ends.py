"""Sessions that end: because a refresh token was reused, or revoked at the provider, or by a sign-out."""

import json

import signin
from checks import check
from stage import await_that, expect, fingerprint, oauth2, oidc

ENDED = "reauthRequired: refreshTokenRejected"


def expect_ended(stage, provider, token):
    """The session has ended because `token` was refused: Hearth says so and never sends it again, even after a
    restart."""

    def refused():
        return provider.refreshes(token=fingerprint(token), status=400)

    def expect_so():
        stage.expect_state(ENDED)
        said = stage.hearthctl("status", "work", status=3)
        expect("hearthctl login work" in said and "refreshTokenRejected" in said, f"the status does not say so: {said}")
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
    """Someone reuses a refresh token that Hearth has used; the provider revokes everything issued from it."""
    provider = stage.provider(ACCESS_TOKEN_EXPIRE_SECONDS=8, REFRESH_TOKEN_REUSE_PROTECTION=True)
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    stolen = stage.stored_refresh_token()
    stage.hearthctl("refresh", "work")
    status, answer = provider.spend(stolen)
    expect((status, answer["error"]) == (400, "invalid_grant"), f"the provider answered {status} {answer}")
    # The newest token. A refresh that was due meanwhile may have changed it.
    [(current,)] = provider.rows("SELECT token FROM oauth2_provider_refreshtoken ORDER BY id DESC LIMIT 1")
    expect(not provider.holds_refresh_token(current), "the provider has not revoked what the stolen token led to")
    # Hearth notices at the next refresh.
    state = stage.state()
    expect(state == "authenticated" or provider.refreshes(token=fingerprint(current)), f"it is {state} too early")
    await_that("the session has ended", lambda: stage.state() == ENDED)
    expect_ended(stage, provider, current)
    return "ended at the next refresh, said so, and sent the refused token once"


@check("revocation")
def revocation(stage):
    """The user revokes the client's access on the provider's page."""
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

    expect(stage.call(provider, access) == 401, "the API still accepts the token")
    told = stage.rpc("session.reportUnauthorized", account="work", fingerprint=fingerprint(access))
    expect(told["state"] == "reauthRequired", f"after the report, the session is {told}")
    expect_ended(stage, provider, current)
    return "ended after the API rejected the token and the provider the refresh, said so, and sent the token once"


@check("logout")
def logout(stage):
    """Signing out revokes the grant at the provider, and says so if the provider cannot be reached."""
    provider = stage.provider()
    provider.client()
    # Named endpoints, because this provider's discovery document has no revocation endpoint.
    stage.configure({"work": oauth2(provider), "offline": oauth2(provider)})
    stage.start_daemon()
    for account in ("work", "offline"):
        stage.sign_in(provider.grant()["refresh_token"], account)
    refresh, access = stage.stored_refresh_token(), stage.hearthctl("token", "work")
    expect(provider.holds_refresh_token(refresh) and provider.holds_access_token(access), "the tokens are unknown")

    told = json.loads(stage.hearthctl("logout", "work", "--json"))
    expect(told["revoked"] is True, f"it does not say that they were revoked: {told}")
    expect(not provider.holds_refresh_token(refresh), "the refresh token is not revoked")
    expect(not provider.holds_access_token(access), "the access token is not revoked")
    expect(stage.call(provider, access) == 401, "the API still accepts the token")
    stage.expect_state("unauthenticated: signedOut")
    stage.hearthctl("status", "work", status=3)
    expect(stage.stored_refresh_token("offline") and stage.state("offline") == "authenticated", "another session ended")

    refresh = stage.stored_refresh_token("offline")
    provider.stop()
    said = stage.hearthctl("logout", "offline")
    expect("keeps trying" in said, f"it does not say that the grant is still to be revoked: {said}")
    stage.expect_state("unauthenticated: signedOut", "offline")
    provider.start()
    expect(provider.holds_refresh_token(refresh), "the provider has forgotten the refresh token by itself")
    # Another sign-out retries at once.
    stage.hearthctl("logout", "offline")
    await_that("the grant is revoked", lambda: not provider.holds_refresh_token(refresh))
    return "both tokens are revoked at the provider; offline, Hearth says so and revokes them later"
