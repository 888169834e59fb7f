#!/usr/bin/env python3
"""screens.py FOLDER: runs "hearthctl status" and "hearthctl top" from FOLDER in tmux, and draws the screens as SVG."""

import html
import re

from stage import HERE, ISSUER, LIMIT, Stage, await_that

COLUMNS = 90

# The colours of the terminal, and those for the escape sequences 30 to 37.
TEXT, BACKGROUND, FRAME = "#d8dee4", "#161b22", "#30363d"
COLOURS = ["#6e7681", "#ff7b72", "#57c46b", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc"]
CELL, LINE, MARGIN = 8.4, 19, 16


class Terminal(Stage):
    """A stage with a terminal."""

    def __exit__(self, *failure):
        self.tmux("kill-server")
        super().__exit__(*failure)

    def tmux(self, *command):
        return self.run("tmux", "-f", "/dev/null", "-S", str(self.folder / "tmux"), *command).stdout

    def show(self, name, lines):
        """Runs "hearthctl NAME" in a terminal, which keeps the screen after the command has ended."""
        script = f"printf '\\033[1;32m$\\033[0m hearthctl {name}\\n'; hearthctl {name}; exec sleep {LIMIT}"
        self.tmux("new-session", "-d", "-s", name, "-x", str(COLUMNS), "-y", str(lines), "sh", "-c", script)

    def screen(self, name, *options):
        return self.tmux("capture-pane", "-p", "-t", f"={name}:", *options)


def prepare(stage):
    """Sets up three accounts: one that is signed in, one that is locked, and one whose session has ended."""
    stage.start_hearth(("work", "home", "mail"), token_lifetime=3600)
    for account, user in ("mail", "ada"), ("home", "grace"), ("work", "grace"):
        stage.sign_in(account, user)
    stage.fault('{"path":"/token","status":400,"body":"{\\"error\\":\\"invalid_grant\\"}","times":1}')
    stage.run("hearthctl", "refresh", "mail")
    stage.run("hearthctl", "lock", "home")


def draw(name, title, screen):
    """Draws a screen as SVG, with the styles from its escape sequences."""
    rows = screen.rstrip("\n").split("\n")
    width, height = COLUMNS * CELL + 2 * MARGIN, len(rows) * LINE + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" font-size="14" xml:space="preserve" '
        'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace">',
        f"<title>{html.escape(title)}</title>",
        f'<rect x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="8" fill="{BACKGROUND}" stroke="{FRAME}"/>',
    ]
    fill, bold, dim = TEXT, False, False
    for row, text in enumerate(rows):
        column = 0
        for escape, run in re.findall(r"\x1b\[([0-9;]*)m|([^\x1b]+)", text):
            if not run:
                for code in map(int, (escape or "0").split(";")):
                    if code in (0, 39):
                        fill = TEXT
                    if code == 0:
                        bold = dim = False
                    elif code == 1:
                        bold = True
                    elif code == 2:
                        dim = True
                    elif 30 <= code <= 37:
                        fill = COLOURS[code - 30]
                continue
            for part in re.finditer(r"\S+(?: \S+)*", run):
                words, x = part[0], MARGIN + (column + part.start()) * CELL
                style = (' font-weight="bold"' if bold else "") + (' opacity="0.65"' if dim else "")
                lines.append(
                    f'<text x="{x:.1f}" y="{MARGIN + (row + 0.75) * LINE:.1f}" textLength="{len(words) * CELL:.1f}" '
                    f'lengthAdjust="spacingAndGlyphs" fill="{fill}"{style}>{html.escape(words)}</text>')
            column += len(run)
    (HERE / f"{name}.svg").write_text("\n".join([*lines, "</svg>", ""]))


with Terminal() as stage:
    prepare(stage)
    stage.show("top", 12)
    await_that(lambda: "work" in stage.screen("top"), "top shows the accounts")
    for text in ("one", "two", "three"):
        stage.run("hearthctl", "outbox", "add", "work", "POST", f"{ISSUER}/api/notes", "--data", text)
    stage.run("hearthctl", "refresh", "work")
    stage.run("hearthctl", "outbox", "flush", "work")
    stage.fault('{"path":"/api/notes","status":503}')
    stage.run("hearthctl", "outbox", "add", "work", "POST", f"{ISSUER}/api/notes", "--data", "written on a train")
    # After a minute, the status shows no seconds, so the picture is the same in each run.
    await_that(lambda: not re.search(r"just now|\d s ago", stage.run("hearthctl", "status").stdout), "a minute is over")
    stage.show("status", 26)
    await_that(lambda: "token" in stage.screen("status"), "status shows the accounts")
    draw("status", "hearthctl status, for three accounts", stage.screen("status", "-e"))
    draw("top", "hearthctl top, for three accounts", stage.screen("top", "-e"))
