"""The metrics, read by Python's strict parser of OpenMetrics and by promtool, which has Prometheus's own parsers."""

import json
import re

from prometheus_client.openmetrics.parser import text_string_to_metric_families

import programs
from checks import check
from stage import expect, oidc

RULES = programs.ETC / "prometheus"
DASHBOARD = programs.ETC / "grafana" / "hearth.json"
TYPES = {"counter", "gauge", "histogram"}


def promtool(stage, *words, stdin=""):
    """Runs promtool, which "make interop" unpacks from Debian's Prometheus package. Returns False if there is none."""
    found = programs.found(stage, "promtool")
    if not found:
        return False
    done = found[0].run(*words, stdin=stdin)
    said = (done.stdout + done.stderr).strip()
    expect(done.returncode == 0, f"promtool {words[0]} {words[1]} ended with {done.returncode}: {said}")
    return True


def samples(text):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def recording_rules(dashboard):
    """A recording rule for each query of the dashboard, as promtool reads only rules. Grafana's variables get
    values."""
    questions = [target["expr"] for panel in json.loads(dashboard)["panels"] for target in panel.get("targets", [])]
    for variable, value in {"$__rate_interval": "5m", "$instance": ".*", "$account": ".*"}.items():
        questions = [question.replace(variable, value) for question in questions]
    expect(questions and not any("$" in question for question in questions), "the dashboard has an unknown variable")
    rules = [{"record": f"dashboard:question:{number}", "expr": question} for number, question in enumerate(questions)]
    return json.dumps({"groups": [{"name": "dashboard", "rules": rules}]})


@check("metrics")
def metrics(stage):
    """A refresh, a delivery, a 401 and an automatic sign-out each appear in the metrics."""
    provider = stage.provider()
    provider.client()
    stage.configure({"work": oidc(provider)})
    stage.start_daemon()
    stage.sign_in(provider.grant()["refresh_token"])
    stage.hearthctl("refresh", "work")
    stage.hearthctl("outbox", "add", "work", "POST", provider.url + "/api/notes", "--data", "one")
    stage.hearthctl("outbox", "flush")
    stage.hearthctl("token", "work")
    stage.hearthctl("request", "work", "GET", provider.url + "/api/me")
    stage.rpc("session.reportUnauthorized", account="work", fingerprint=stage.session()["token"]["fingerprint"])

    text, prometheus = stage.run("metrics").stdout, stage.run("metrics", "--prometheus").stdout
    families = list(text_string_to_metric_families(text))
    expect({family.type for family in families} == TYPES, f"the types of metrics are not {TYPES}")
    for family in families:
        expect(family.documentation, f"{family.name} has no help")
        expect(not family.unit or family.name.endswith("_" + family.unit), f"{family.name} is not in {family.unit}")
    work = ("account", "work")
    found = samples(text)
    for name, least in {
        ("hearth_refreshes_total", work, ("result", "success")): 2,
        ("hearth_unauthorized_total", work): 1,
        ("hearth_tokens_given_total", work): 1,
        ("hearth_requests_total", work, ("answer", "2xx")): 1,
        ("hearth_delivery_latency_seconds_count", work): 1,
        ("hearth_delivery_attempts_total", work, ("answer", "2xx")): 1,
        ("hearth_delivered_bytes_total", work): 3,
        ("hearth_outbox_items", work, ("state", "delivered")): 1,
        ("hearth_rpc_calls_total", ("method", "session.refresh"), ("result", "success")): 1,
        ("hearth_rpc_duration_seconds_count", ("method", "session.refresh")): 1,
        ("hearth_connections",): 1,
        ("hearth_token_remaining_seconds", work): 1,
        ("hearth_session_authenticated", work): 1,
    }.items():
        name = (name[0], *sorted(name[1:]))
        expect(found.get(name, 0) >= least, f"{name} is {found.get(name)}, but should be at least {least}")

    # After a new sign-in, the API has not accepted any of its tokens yet.
    stage.hearthctl("logout", "work")
    stage.sign_in(provider.grant()["refresh_token"])
    stage.rpc("session.reportUnauthorized", account="work", fingerprint=stage.session()["token"]["fingerprint"])
    reason = ("reason", "rejectedByServer")
    before = found[("hearth_automatic_sign_outs_total", work, reason)]
    stage.rpc("session.reportUnauthorized", account="work", fingerprint=stage.session()["token"]["fingerprint"])
    stage.expect_state("reauthRequired: rejectedByServer")
    after = samples(stage.run("metrics").stdout)
    expect(after[("hearth_automatic_sign_outs_total", work, reason)] == before + 1, "the sign-out was not counted")
    expect(after[("hearth_session_authenticated", work)] == 0, "an ended session counts as signed in")

    # promtool reads OpenMetrics only with a time for each sample.
    timed = "".join(
        line + ("\n" if line.startswith("#") else " 1700000000\n") for line in text.splitlines()
    )
    (stage.folder / "metrics.txt").write_text(timed)
    words = ["openmetrics", stage.folder / "metrics.txt", stage.folder / "blocks"]
    has_promtool = promtool(stage, "tsdb", "create-blocks-from", *words)
    # "check metrics" reads only Prometheus's own format, even in its newest version.
    promtool(stage, "check", "metrics", stdin=prometheus)
    promtool(stage, "check", "rules", RULES / "hearth.rules.yml")
    promtool(stage, "test", "rules", RULES / "hearth.test.yml")
    rules, dashboard = (RULES / "hearth.rules.yml").read_text(), DASHBOARD.read_text()
    (stage.folder / "dashboard.rules.yml").write_text(recording_rules(dashboard))
    promtool(stage, "check", "rules", stage.folder / "dashboard.rules.yml")
    for name in set(re.findall(r"\bhearth_\w+", rules + dashboard)):
        expect(any(sample[0] == name for sample in found | after), f"an alert or a panel uses {name}, which is missing")
    reader = "prometheus_client and promtool" if has_promtool else "prometheus_client (promtool is not installed)"
    return f"{len(families)} families of {len(found)} samples, read by {reader}"
