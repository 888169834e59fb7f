"""The outbox: what is written while the provider or the API is down is delivered once they are back."""

from checks import check
from stage import await_that, expect, oidc

NOTES = ["one", "two", "three", "four", "five", "six"]


@check("outbox")
def outbox(stage):
    """First the API is down, then also the provider, until the token has expired. The first answer is lost."""
    # With a grace period, because the provider may stop during a refresh.
    provider = stage.provider(ACCESS_TOKEN_EXPIRE_SECONDS=8, REFRESH_TOKEN_GRACE_PERIOD_SECONDS=600)
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])

    def write_down(note):
        stage.hearthctl("outbox", "add", "work", "POST", provider.url + "/api/notes", "--data", note)

    provider.trouble(api_status=503)
    for note in NOTES[:3]:
        write_down(note)
    await_that("the API was tried", lambda: provider.calls("/api/notes", status=503))
    provider.stop()
    for note in NOTES[3:]:
        write_down(note)

    def is_offline():
        session = stage.session()
        expect(session["state"] == "authenticated", f"being offline ended the session: {session}")
        return session["token"]["health"] == "expired" and session["refresh"]["failures"] > 0

    await_that("the token has expired", is_offline)
    expect(provider.effects() == [], "something was delivered while the API was down")
    provider.start(api_replies_lost=1)

    def left():
        stats = stage.rpc("outbox.getStats", account="work")
        return {name: stats[name] for name in ("pending", "inFlight", "waiting", "held", "dead") if stats[name]}

    await_that("everything is delivered", lambda: not left())
    expect(provider.effects() == NOTES, f"the API stored {provider.effects()}, not {NOTES}")
    sent = len(provider.calls("/api/notes", status=200))
    expect(sent == len(NOTES) + 1, f"sent {sent} times instead of {len(NOTES) + 1} (one answer was lost)")
    stage.expect_state("authenticated")
    return f"{len(NOTES)} items delivered once and in order, though one answer was lost"
