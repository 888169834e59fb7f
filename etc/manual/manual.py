#!/usr/bin/env python3
"""manual.py FOLDER SECTION < HELP: writes the manual pages of a program and its verbs (mdoc(7)).

HELP is the program's commands as JSON, which ArgumentParser prints with --experimental-dump-help. For section 5, HELP
is the JSON Schema that "hearthd --describe-keys" prints. NAME.mdoc in this folder contains the other sections, such as
files and signals.
"""

import datetime
import json
import os
import pathlib
import re
import sys

EXAMPLE = "For example:"


def text(words):
    """One line of mdoc text, in ASCII, escaped so that it contains no request."""
    words = words.replace("\\", "\\e").replace("-", "\\-")
    words = "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in words)
    return "\\&" + words if words[:1] in (".", "'") else words


def sentences(words):
    """Lines of mdoc text, with each sentence on its own line (mdoc(7))."""
    return [text(sentence) for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z-])", words.replace("\n", " "))]


def operand(words):
    """One operand of a macro, escaped so that it is not taken for a macro."""
    return '"\\&' + text(words).replace('"', '\\(dq') + '"'


def name(of):
    """-d or --data as an operand of Fl, which adds the first hyphen."""
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
    """Paragraphs of text. Indented lines are kept as they are."""
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
                lines += [text(f"Default: {argument['defaultValue']}.")]
        lines += [".El"]
    if len(path) == 1:
        lines += more(path[0])
    else:
        lines += [".Sh EXIT STATUS", f".Xr {path[0]} {section}", "describes the exit statuses, environment variables and files."]
    if examples.strip():
        lines += [".Sh EXAMPLES"] + paragraphs(examples.lstrip("\n").rstrip())
    return "\n".join(lines + see_also(others, "-".join(path))) + "\n"


def more(program):
    """The sections from NAME.mdoc."""
    return (pathlib.Path(__file__).parent / f"{program}.mdoc").read_text(encoding="ascii").splitlines()


def see_also(others, this):
    lines = [f".Xr {other} {number} ," for other, number in others if other != this]
    return [".Sh SEE ALSO", *lines[:-1], lines[-1].removesuffix(" ,")]


def kind(schema):
    """The allowed values of a key, in words."""
    if "enum" in schema:
        return "one of " + ", ".join(f'"{choice}"' for choice in schema["enum"])
    if "pattern" in schema:
        return "a duration" if "ms" in schema["pattern"] else "a size"
    if "anyOf" in schema:
        return "an integer or a list of integers"
    if schema["type"] == "array":
        choices = schema["items"].get("enum")
        return f"a list of {' and '.join(json.dumps(choice) for choice in choices)}" if choices else "a list of strings"
    if schema["type"] == "integer" and "maximum" in schema:
        return f"an integer from {schema['minimum']} to {schema['maximum']}"
    return {"string": "a string", "boolean": "true or false", "number": "a number from 0 up to 1, without 1",
            "object": "a table of strings", "integer": "an integer"}[schema["type"]]


def table(header, schema):
    """The keys of a table, followed by those of the tables inside it."""
    keys, inner = [], []
    for key, value in schema["properties"].items():
        path = ".".join(filter(None, [header.strip("[]"), key]))
        if "patternProperties" in value:
            inner += table(f"[{path}.NAME]", next(iter(value["patternProperties"].values())))
        elif "properties" in value:
            inner += table(f"[{path}]", value)
        elif "properties" in value.get("items", {}):
            keys += [f".It Ic {operand(key)}", *sentences(value["description"]), text(f"Each is a table [[{path}]].")]
            inner += table(f"[[{path}]]", value["items"])
        else:
            default = value.get("default")
            shown = default if isinstance(default, str) else json.dumps(default)
            ends = f"; default {shown}." if default is not None else "."
            keys += [f".It Ic {operand(key)}", *sentences(value["description"]), text(f"Value: {kind(value)}{ends}")]
    title = header or "The top of the file"
    return [f".Ss {operand(title)}", ".Bl -tag -width Ds", *keys, ".El", *inner] if keys else inner


def configuration(schema, date, others):
    """The manual page of the configuration file."""
    lines = [
        f".Dd {date}", ".Dt HEARTH.TOML 5", ".Os Hearth", ".Sh NAME", ".Nm hearth.toml",
        ".Nd the configuration of hearthd", ".Sh DESCRIPTION",
        "The configuration is a TOML file", ".Pq https://toml.io .",
        "A key that is not listed here, or a value of the wrong type, is an error.", ".Pp",
        'Durations are strings like "500ms", "30s", "5m", "6h" and "7d"; sizes are strings like "64KiB", "1MiB" and',
        '"1GiB".', "A path begins with /, with ~/", ".Pq your home folder ,", "with %t/",
        ".Pq Ev XDG_RUNTIME_DIR", "or with %d/", ".Pq Ev CREDENTIALS_DIRECTORY , No see systemd.exec(5) .",
    ]
    return "\n".join(lines + table("", schema) + more("hearth.toml") + see_also(others, "hearth.toml")) + "\n"


def save(folder, name, words):
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        os.fchmod(file.fileno(), 0o644)  # regardless of the umask
        file.write(words)


def write(command, folder, section, others, date, above=()):
    path = [*above, command["commandName"]]
    save(folder, f"{'-'.join(path)}.{section}", page(command, path, section, others, date))
    for verb in shown(command.get("subcommands", [])):
        write(verb, folder, section, others, date, path)


def main():
    folder, section = sys.argv[1:]
    known = json.load(sys.stdin)
    moment = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    date = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%B %-d, %Y")
    others = [
        ("hearth-oidc-agent", "1"), ("hearth-sandbox", "1"), ("hearthctl", "1"), ("hearth.toml", "5"), ("hearthd", "8")]
    if section == "5":
        save(folder, "hearth.toml.5", configuration(known, date, others))
    else:
        write(known["command"], folder, section, others, date)


main()
