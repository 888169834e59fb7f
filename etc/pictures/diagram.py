#!/usr/bin/env python3
"""diagram.py: draws how-it-works.svg in this folder. The picture follows the reader's light or dark setting."""

import html
import pathlib

WIDTH, HEIGHT = 920, 430
STYLE = """
  text { font: 14px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
  .name { font-weight: 600 }
  .note { font-size: 12px; fill: #59636e }
  .page { fill: #ffffff; stroke: #d1d9e0 }
  .box { fill: #f6f8fa; stroke: #818b98 }
  .hearth { fill: #fff4e5; stroke: #bc6c00; stroke-width: 1.5 }
  .part { fill: #ffffff; stroke: #bc6c00 }
  .arrow { fill: none; stroke: #59636e; stroke-width: 1.5; marker-end: url(#head) }
  .both { marker-start: url(#head) }
  .head { fill: #59636e }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .note { fill: #9198a1 }
    .page { fill: #0d1117; stroke: #3d444d }
    .box { fill: #151b23; stroke: #656c76 }
    .hearth { fill: #2b1d0e; stroke: #f0883e }
    .part { fill: #0d1117; stroke: #f0883e }
    .arrow { stroke: #9198a1 }
    .head { fill: #9198a1 }
  }
"""
DESCRIPTION = """Programs of one user ask hearthd over a socket, for a token or to send something. hearthd keeps the session
of each account in a credential file, and refreshes it at the provider. It keeps what programs write in an outbox on the disk,
and delivers it to the API. Programs use the token at the API themselves."""

drawn = []


def box(x, y, width, height, kind, *lines, top=None):
    """A box with lines of text: a name, then notes. The text is centred, or starts at `top`."""
    drawn.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>')
    first = top if top is not None else y + height / 2 + 5 - 9 * (len(lines) - 1)
    for number, line in enumerate(lines):
        text(x + width / 2, first + 18 * number, line, "note" if number else "name")


def text(x, y, words, kind="note", anchor="middle"):
    drawn.append(f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html.escape(words)}</text>')


def disk(x, y, width, height, name, note):
    """A file, as a cylinder."""
    rim = 8
    drawn.append(
        f'<path class="part" d="M{x} {y + rim} v{height - 2 * rim} a{width / 2:g} {rim} 0 0 0 {width} 0 v{2 * rim - height} '
        f'a{width / 2:g} {rim} 0 0 0 {-width} 0 a{width / 2:g} {rim} 0 0 0 {width} 0"/>')
    text(x + width / 2, y + height / 2 + 5, name, "name")
    text(x + width / 2, y + height / 2 + 22, note)


def arrow(path, *lines, at=None, both=False):
    drawn.append(f'<path class="arrow{" both" if both else ""}" d="{path}"/>')
    for number, line in enumerate(lines):
        text(at[0], at[1] + 15 * number, line)


box(0.5, 0.5, WIDTH - 1, HEIGHT - 1, "page")

text(108, 38, "your programs", "name")
box(20, 52, 176, 46, "box", "hearthctl", "shell, scripts")
box(20, 110, 176, 46, "box", "git, docker, kubectl", "and other helpers")
box(20, 168, 176, 46, "box", "your own program", "library or JSON-RPC")

box(310, 30, 330, 156, "hearth", "hearthd", "one for each user", top=54)
box(335, 92, 120, 74, "part", "sessions", "refresh ahead", "of expiry, once")
box(495, 92, 120, 74, "part", "outbox", "in order, once,", "as the same user")
disk(335, 222, 120, 84, "credential file", "0600, or sealed")
disk(495, 222, 120, 84, "outbox.sqlite", "on disk first")

box(760, 52, 140, 74, "box", "provider", "signs you in,", "issues tokens")
box(760, 200, 140, 74, "box", "API", "what your programs", "work with")

arrow("M202 133 H304", "Unix socket", at=(253, 122), both=True)
text(253, 152, "calls, events")
arrow("M395 172 V218", both=True)
arrow("M555 172 V218", both=True)
arrow("M395 92 V78 H754", "refresh token", at=(698, 68), both=True)
arrow("M615 129 H690 V222 H754", "each write", at=(724, 240))
arrow("M108 220 V380 H830 V280", "access token", at=(469, 372))
text(469, 397, "requests of your programs, each with a token that is valid now")

picture = f"""<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">
<title>How Hearth works</title>
<desc>{DESCRIPTION}</desc>
<style>{STYLE}</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">
<path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>
"""
pathlib.Path(__file__).with_name("how-it-works.svg").write_text(picture + "\n".join(drawn) + "\n</svg>\n")
