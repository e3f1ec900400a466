#!/usr/bin/env python3
"""docs/reference.md has every call, message and enum of the protos: reference_test.py [--write]

With --write the page is made from the protos instead.
"""

import collections
import re
import sys

import errors_test
import protos

PAGE = protos.ROOT / "docs/reference.md"
COLUMNS = 95
HEAD = """\
# API reference

This page lists every call, message, field and enum of the API, with the comments of
[proto/waystar/v1](../proto/waystar/v1). [The API by example](api.md) is an introduction, and
[clients](clients.md) describes how to generate code for your language.

Each field has its number on the wire and its type. A field of a message type, or one that is
`optional`, can be told apart from its default when it is unset. Types without a link are scalars,
or messages of `google.protobuf` and `google.rpc`. An error is written as `CODE / REASON`;
[errors](errors.md) lists the reasons.
"""
TOKEN = re.compile(
    r"`[^`]*`|\"[^\"]*\"|\*\*.*?\*\*"  # stay as they are
    r"|docs/(?P<page>[\w-]+\.md)"
    r"|(?P<code>(?:\[[^\]\s]+\])+\*?|[a-z][a-z0-9]*(?:[._]\w+)+|--\w+)"
    r"|(?P<constants>[A-Z]+(?:_[A-Z]+)*(?: / [A-Z_]+)?\b)"
    r"|(?P<name>[A-Z]\w+(?:\.[a-zA-Z]\w*)*)"
    r"|(?P<tag><(?=\w))"
)


def anchor_of(heading):
    """As GitHub makes it."""
    return "#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def of_kind(declarations, *kinds):
    return [declaration for declaration in declarations if declaration.kind in kinds]


def blocks_of(comment):
    """Yields the paragraphs, items of lists and examples of a comment, each as its kind and its lines."""
    kind, lines = "", []
    for line in [*comment, ""]:
        if line.startswith("- "):
            begun = "item"
        elif line.startswith("  "):
            begun = kind if kind == "item" else "example"
        else:
            begun = "text" if line else ""
        if begun != kind or line.startswith("- "):
            if kind:
                yield kind, lines
            kind, lines = begun, []
        lines.append(line)


def wrapped(text, indent, hanging):
    """Breaks a text into lines as wide as they are seen; none begins like the item of a list."""
    first, *words = re.findall(r"(?:`[^`]*`|[^\s`])+", text)
    lines = [indent + first]
    for word in words:
        longer = f"{lines[-1]} {word}"
        if len(re.sub(r"\]\([^)]*\)", "]", longer)) <= COLUMNS or re.fullmatch(r"[-+*#>]|\d+[.)]", word):
            lines[-1] = longer
        else:
            lines.append(hanging + word)
    return lines


class Page:
    def __init__(self, files):
        self.files = files
        self.lines = []
        self.links = {"ErrorReason": "errors.md"}  # by the names of services, calls and types
        self.constants = set()
        for code, _, reasons in errors_test.groups_of_contract():
            self.constants.update([code], (reason for reason, _, _ in reasons))
        for declarations in files.values():
            for declaration in declarations:
                self.add_names(declaration)
        anchor, count = collections.Counter(self.links.values()).most_common(1)[0]
        if count > 1:
            sys.exit(f"{count} names of the protos have the anchor {anchor}")

    def add_names(self, declaration, scope=""):
        if declaration.kind in ("service", "message", "enum"):
            name = scope + declaration.name
            self.links[name] = anchor_of(name)
            for child in declaration.children:
                self.add_names(child, name + "." if declaration.kind == "message" else "")
            if declaration.kind == "enum":
                prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", declaration.name).upper() + "_"
                values = [child.kind for child in declaration.children]
                self.constants.update(values, (value.removeprefix(prefix) for value in values))
        elif declaration.kind == "rpc":
            self.links[declaration.name] = anchor_of(declaration.name)

    def link(self, name):
        return f"[{name}]({self.links[name]})"

    def links_in_type(self, text, scope=""):
        def linked(match):
            nested = f"{scope}.{match[0]}"
            name = nested if nested in self.links else match[0]
            return f"[{match[0]}]({self.links[name]})" if name in self.links else match[0]

        return re.sub(r"[\w.]+", linked, text.replace("<", "\\<"))

    def marked(self, text, owner):
        """Makes links of names, and code of what looks like it."""

        def mark(match):
            if match["page"]:
                return f"[{match['page']}]({match['page']})"
            if match["code"] or match["constants"] and match[0].split(" / ")[0] in self.constants:
                return f"`{match[0]}`"
            if match["tag"]:
                return "\\<"
            name = match["name"] or ""
            while name and name not in self.links:
                name = name.rpartition(".")[0]
            # The first word of a sentence is mostly no name, unless it is like FindPath.
            is_first = re.search(r"(^|[.:] )$", text[: match.start()]) and not re.search("[a-z][A-Z]", name)
            return match[0] if not name or name == owner or is_first else f"[{match[0]}]({self.links[name]})"

        return TOKEN.sub(mark, text)

    def blank(self):
        if self.lines[-1]:
            self.lines.append("")

    def heading(self, level, text):
        self.blank()
        self.lines += [f"{'#' * level} {text}", ""]

    def comment(self, declaration, owner="", indent=""):
        last = ""
        for kind, lines in blocks_of(declaration.comment):
            if last and (last, kind) != ("item", "item"):
                self.blank()
            if kind == "example":
                self.lines += [indent + "```text", *(indent + line[2:] for line in lines), indent + "```"]
            else:
                text = " ".join(map(str.strip, lines)).removeprefix("- ")
                if not indent:  # "Ties. The same query ..."
                    text = re.sub(r"^[A-Z]\w*(?: \w+){0,2}\.(?= )", r"**\g<0>**", text)
                first, hanging = ("- ", "  ") if kind == "item" else ("", "")
                self.lines += wrapped(self.marked(text, owner), indent + first, indent + hanging)
            last = kind

    def call(self, declaration):
        self.heading(3, declaration.name)
        signature = re.sub(r"\(.*", lambda match: self.links_in_type(match[0]), declaration.statement)
        self.lines += [signature.replace(f"rpc {declaration.name}", f"**{declaration.name}** "), ""]
        self.comment(declaration, declaration.name)

    def member(self, declaration, scope, indent=""):
        """Adds a field, a oneof with its fields, or a value of an enum."""
        if declaration.kind == "oneof":
            head = f"At most one of these is set (`{declaration.name}`):"
        else:
            kind, name, number = re.match(r"(.*?)(\w+) = (-?\d+)", declaration.statement).groups()
            head = f"**`{name}`** = {number}" + (f", {self.links_in_type(kind.strip(), scope)}" if kind else "")
        self.lines.append(f"{indent}- {head}" + ("\\" if declaration.comment else ""))
        self.comment(declaration, scope, indent + "  ")
        for child in declaration.children:
            self.member(child, scope, indent + "  ")

    def type(self, declaration, scope=""):
        name = scope + declaration.name
        self.heading(3, name)
        self.comment(declaration, name)
        self.blank()
        types = of_kind(declaration.children, "message", "enum")
        members = [child for child in declaration.children if " = " in child.statement or child.kind == "oneof"]
        for member in members:
            self.member(member, name)
        if not members:
            self.lines.append("It has no fields.")
        for child in types:
            self.type(child, name + ".")

    def text(self):
        self.lines = HEAD.splitlines()
        self.heading(2, "Index")
        self.lines += ["| | |", "|---|---|"]
        chapters = []
        for path, declarations in self.files.items():
            services = of_kind(declarations, "service")
            for service in services:
                calls = ", ".join(self.link(call.name) for call in of_kind(service.children, "rpc"))
                self.lines.append(f"| {self.link(service.name)} | {calls} |")
            chapters.append(f"Messages of {services[0].name}" if services else f"Shared {path.stem}")
        for chapter, declarations in zip(chapters, self.files.values()):
            names = sorted(declaration.name for declaration in of_kind(declarations, "message", "enum"))
            types = ", ".join(map(self.link, names))
            self.lines.append(f"| [{chapter}]({anchor_of(chapter)}) | {types} |")
        for chapter, declarations in zip(chapters, self.files.values()):
            services = of_kind(declarations, "service")
            for service in services:
                self.heading(2, service.name)
                self.comment(service, service.name)
            if not services:
                self.heading(2, chapter)
            self.blank()
            self.comment(*of_kind(declarations, "package"))
            for service in services:
                for call in of_kind(service.children, "rpc"):
                    self.call(call)
            if services:
                self.heading(2, chapter)
            for declaration in of_kind(declarations, "message", "enum"):
                self.type(declaration)
        return "\n".join(self.lines) + "\n"


def main():
    paths = [path for path in sorted(protos.FOLDER.glob("*.proto")) if path != errors_test.PROTO]
    page = Page({path: protos.declarations(path) for path in paths}).text()
    if "--write" in sys.argv:
        PAGE.write_text(page)
    elif PAGE.read_text() != page:
        sys.exit(f"{PAGE.name} is not what the protos have: {sys.argv[0]} --write makes it")


if __name__ == "__main__":
    main()
