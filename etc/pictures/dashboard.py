#!/usr/bin/python3
"""dashboard.py FOLDER: runs the programs in FOLDER for five minutes, lets Prometheus record their metrics, and draws
Grafana's dashboard of that time as SVG. Grafana itself is not needed."""

import http.server
import io
import json
import re
import threading
import time
import urllib.parse
import urllib.request

# Only Debian's own Python finds Debian's package.
from matplotlib import dates, pyplot, ticker

from stage import HERE, ISSUER, Stage, await_that

SECONDS, STEP = 300, 5
DAY = 86400  # seconds; matplotlib counts time in days
PROMETHEUS = "127.0.0.1:8791"
EXPORTER = "127.0.0.1:8792"
DASHBOARD = json.loads((HERE.parent / "grafana" / "hearth.json").read_text())
VARIABLES = {"$__rate_interval": f"{4 * STEP}s", "$instance": ".*", "$account": ".*"}
UNITS = {"s": "s", "bytes": "B", "reqps": "requests/s", "ops": "1/s"}
WORK, HOME = ("work", "grace"), ("home", "ada")


def exporter(stage):
    """Returns a server whose response is the output of "hearthctl metrics"."""
    class Metrics(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(stage.run("hearthctl", "metrics", "--prometheus").stdout.encode())

        def log_message(self, *_):
            pass

    host, port = EXPORTER.split(":")
    return http.server.ThreadingHTTPServer((host, int(port)), Metrics)


def start_prometheus(stage):
    server = exporter(stage)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    scrape = {"job_name": "hearth", "static_configs": [{"targets": [EXPORTER], "labels": {"instance": "laptop"}}]}
    configuration = {"global": {"scrape_interval": f"{STEP}s"}, "scrape_configs": [scrape]}
    (stage.folder / "prometheus.json").write_text(json.dumps(configuration))
    stage.start(
        "prometheus", "--config.file", "prometheus.json", "--storage.tsdb.path", "series",
        "--web.listen-address", PROMETHEUS)
    await_that(lambda: stage.run("curl", "-sf", f"http://{PROMETHEUS}/-/ready").returncode == 0, "Prometheus starts")


def live_through_a_day(stage):
    """Uses two accounts while first the API and then the provider fails, and until one session has ended."""
    def end_session():
        stage.run("curl", "-s", "--data", json.dumps({"subject": HOME[1]}), f"{ISSUER}/__revoke")
        stage.run("hearthctl", "refresh", HOME[0])

    incidents = {
        60: lambda: stage.fault('{"path": "/api/notes", "status": 503, "times": 12}'),
        120: lambda: stage.fault('{"path": "/api/reports", "status": 401, "times": 6}'),
        150: lambda: stage.fault('{"path": "/token", "status": 503, "times": 5}'),
        230: end_session,
    }
    begin = time.time()
    while (elapsed := time.time() - begin) < SECONDS:
        for second in [second for second in incidents if second <= elapsed]:
            incidents.pop(second)()
        for account, _ in WORK, HOME:
            stage.run("hearthctl", "token", account)
            stage.run("hearthctl", "outbox", "add", account, "POST", f"{ISSUER}/api/notes", "--data", "a note")
        stage.run("hearthctl", "request", WORK[0], "GET", f"{ISSUER}/api/reports")
        time.sleep(0.5)
    return begin, time.time()


def query(expression, begin, end):
    """Returns the series of an expression: their labels and values."""
    for variable, value in VARIABLES.items():
        expression = expression.replace(variable, value)
    words = urllib.parse.urlencode({"query": expression, "start": begin, "end": end, "step": STEP})
    with urllib.request.urlopen(f"http://{PROMETHEUS}/api/v1/query_range?{words}") as answer:
        return json.load(answer)["data"]["result"]


def legend(form, labels):
    for name, value in labels.items():
        form = form.replace("{{" + name + "}}", value)
    return form


def draw_timeline(axes, series):
    """Draws a bar for each series, in green while its value is 1 and in red while it is 0."""
    for row, (name, times, values) in enumerate(series):
        for state, colour in (1, "#57a05a"), (0, "#d1495b"):
            spans = [(moment / DAY, STEP / DAY) for moment, value in zip(times, values) if value == state]
            axes.broken_barh(spans, (row - 0.35, 0.7), color=colour)
        axes.text(times[0] / DAY, row, f" {name}", color="white", fontweight="bold", va="center")
    axes.set_yticks([])


def draw(begin, end):
    panels = DASHBOARD["panels"]
    bottom = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels)
    pyplot.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "hearth", "font.size": 8, "font.family": "sans-serif",
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e6e8eb"})
    figure = pyplot.figure(figsize=(14, bottom * 0.27))
    for panel in panels:
        place = panel["gridPos"]
        left, top = place["x"] / 24, 1 - place["y"] / bottom
        width, height = place["w"] / 24, place["h"] / bottom
        if panel["type"] == "row":
            figure.text(0.01, top - height, panel["title"], fontsize=12)
            continue
        axes = figure.add_axes((left + 0.045, top - height + 0.045, width - 0.055, height - 0.065))
        axes.set_title(panel["title"], loc="left", fontweight="bold", fontsize=9)
        series = [
            (legend(target.get("legendFormat", ""), found["metric"]), [moment for moment, _ in found["values"]],
             [float(value) for _, value in found["values"]])
            for target in panel["targets"] for found in query(target["expr"], begin, end)]
        # A counter has a series for each possible label. Most of them are always zero.
        series = [found for found in series if any(value > 0 for value in found[2])]
        if panel["type"] == "state-timeline":
            draw_timeline(axes, series)
        else:
            for name, times, values in series:
                axes.plot([moment / DAY for moment in times], values, label=name, linewidth=1.2)
            axes.set_ylim(bottom=0)
            unit = panel["fieldConfig"]["defaults"].get("unit", "")
            axes.yaxis.set_major_formatter(ticker.EngFormatter(sep="" if unit == "short" else " "))
            axes.set_ylabel(UNITS.get(unit, ""))
            if series:
                axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(-0.02, -0.12), ncols=3)
        axes.xaxis_date()
        axes.set_xlim(begin / DAY, end / DAY)
        axes.xaxis.set_major_formatter(dates.DateFormatter("%H:%M"))
        axes.xaxis.set_major_locator(dates.MinuteLocator())
    picture = io.StringIO()
    figure.savefig(picture, format="svg", metadata={"Date": None})
    # One decimal place is precise enough and keeps the file small.
    (HERE / "dashboard.svg").write_text(re.sub(r"(\d\.\d)\d+", r"\1", picture.getvalue()))


with Stage() as stage:
    stage.start_hearth([account for account, _ in (WORK, HOME)], token_lifetime=90)
    for account, user in WORK, HOME:
        stage.sign_in(account, user)
    start_prometheus(stage)
    draw(*live_through_a_day(stage))
