"""The outbox: what is written while provider or API are away is delivered once they are back."""

from checks import check
from stage import await_that, expect, oidc

NOTES = ["one", "two", "three", "four", "five", "six"]


@check("outbox")
def outbox(stage):
    """First the API is down, then the provider too, until the token has run out; and the first answer is lost."""
    # With grace, for a refresh may be under way as the provider stops.
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

    await_that("the token has run out", is_offline)
    expect(provider.effects() == [], "something was delivered while the API was down")
    provider.start(api_replies_lost=1)

    def left():
        stats = stage.rpc("outbox.getStats", account="work")
        return {name: stats[name] for name in ("pending", "inFlight", "waiting", "held", "dead") if stats[name]}

    await_that("all is delivered", lambda: not left())
    expect(provider.effects() == NOTES, f"the API took {provider.effects()}, not {NOTES}")
    sent = len(provider.calls("/api/notes", status=200))
    expect(sent == len(NOTES) + 1, f"sent {sent} times, where {len(NOTES)} and one whose answer was lost were due")
    stage.expect_state("authenticated")
    return f"{len(NOTES)} items delivered once and in order, though one answer was lost"
