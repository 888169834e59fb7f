#!/usr/bin/env python3
"""manual.py FOLDER SECTION < HELP: writes the manual pages of a program and of its verbs (mdoc(7)).

HELP is what the program prints with --experimental-dump-help: its commands as JSON, as ArgumentParser knows them.
"""

import datetime
import json
import os
import re
import sys

EXAMPLE = "For example:"


def text(words):
    """As a line of text: nothing in it is a request, and all of it is ASCII."""
    words = words.replace("\\", "\\e").replace("-", "\\-")
    words = "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in words)
    return "\\&" + words if words[:1] in (".", "'") else words


def sentences(words):
    """As lines of text, each sentence on one of its own (mdoc(7))."""
    return [text(sentence) for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z-])", words.replace("\n", " "))]


def operand(words):
    """As one operand of a macro; what might be a macro itself is no more."""
    return '"\\&' + text(words).replace('"', '\\(dq') + '"'


def name(of):
    """-d or --data, as an operand of Fl, which adds the first hyphen."""
    return operand(of["name"] if of["kind"] == "short" else "-" + of["name"])


def value(argument):
    return "Ar " + operand(argument["valueName"])


def usage(argument):
    if argument["kind"] == "positional":
        macro = value(argument)
    else:
        macro = "Fl " + name(argument["preferredName"])
        if argument["kind"] == "option":
            macro += " " + value(argument)
    line = ("Op " if argument["isOptional"] else "") + macro
    return "." + line + (" ..." if argument["isRepeating"] else "")


def tag(argument):
    if argument["kind"] == "positional":
        return ".It " + value(argument)
    spellings = " , ".join("Fl " + name(spelling) for spelling in argument["names"])
    return ".It " + spellings + (" " + value(argument) if argument["kind"] == "option" else "")


def paragraphs(words):
    """Paragraphs of running text; of lines that are indented, each as it is."""
    lines = []
    for paragraph in filter(None, re.split(r"\n\s*\n", words)):
        if paragraph.startswith(" "):
            lines += [".Bd -literal -offset indent"]
            lines += [text(line.removeprefix("  ")) for line in paragraph.split("\n")]
            lines += [".Ed"]
        else:
            lines += [".Pp"] + sentences(paragraph)
    return lines[1:] if lines[:1] == [".Pp"] else lines


def shown(items):
    return [item for item in items if item["shouldDisplay"] and item.get("commandName") != "help"]


def page(command, path, section, others, date):
    spelled = " ".join(path)
    verbs = shown(command.get("subcommands", []))
    arguments = shown(command.get("arguments", []))
    abstract = command["abstract"]
    about, _, examples = command.get("discussion", "").partition(EXAMPLE)
    lines = [
        f".Dd {date}",
        f".Dt {'-'.join(path).upper()} {section}",
        ".Os Hearth",
        ".Sh NAME",
        f".Nm {'-'.join(path)}",
        f".Nd {text((abstract[0].lower() + abstract[1:]).rstrip('.'))}",
        ".Sh SYNOPSIS",
        f".Nm {operand(spelled)}",
    ]
    lines += [usage(argument) for argument in arguments]
    lines += [".Ar verb ..."] if verbs else []
    lines += [".Sh DESCRIPTION", *sentences(abstract)]
    lines += [".Pp"] * bool(about.strip()) + paragraphs(about.strip())
    if verbs:
        lines += [".Pp", "The verbs:", ".Bl -tag -width Ds"]
        for verb in verbs:
            lines += [f".It Xr {'-'.join(path + [verb['commandName']])} {section}", *sentences(verb["abstract"])]
        lines += [".El"]
    if arguments:
        lines += [".Pp", "The arguments and options:", ".Bl -tag -width Ds"]
        for argument in arguments:
            lines += [tag(argument), *sentences(argument.get("abstract", ""))]
            if "defaultValue" in argument:
                lines += [text(f"Otherwise {argument['defaultValue']}.")]
        lines += [".El"]
    if examples.strip():
        lines += [".Sh EXAMPLES"] + paragraphs(examples.lstrip("\n").rstrip())
    lines += [".Sh SEE ALSO"]
    lines += [f".Xr {other} {number} ," for other, number in others if other != "-".join(path)]
    lines[-1] = lines[-1].removesuffix(" ,")
    return "\n".join(lines) + "\n"


def write(command, folder, section, others, date, above=()):
    path = [*above, command["commandName"]]
    with open(os.path.join(folder, f"{'-'.join(path)}.{section}"), "w", encoding="ascii") as file:
        os.fchmod(file.fileno(), 0o644)  # whatever the umask
        file.write(page(command, path, section, others, date))
    for verb in shown(command.get("subcommands", [])):
        write(verb, folder, section, others, date, path)


def main():
    folder, section = sys.argv[1:]
    command = json.load(sys.stdin)["command"]
    moment = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    date = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%B %-d, %Y")
    others = [("hearth-oidc-agent", "1"), ("hearth-sandbox", "1"), ("hearthctl", "1"), ("hearthd", "8")]
    write(command, folder, section, others, date)


main()
