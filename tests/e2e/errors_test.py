#!/usr/bin/env python3
"""docs/errors.md lists the reasons as the contract and the server have them: errors_test.py [--write]

With --write the page's tables are made from the contract instead.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTO = ROOT / "proto/waystar/v1/error_reason.proto"
SERVER = ROOT / "server/base/error.cc"
PAGE = ROOT / "docs/errors.md"


def groups_of_contract():
    """Yields for each code what it says, and its reasons with when they come and the field they blame."""
    text = PROTO.read_text()
    body = text[text.index("enum ErrorReason {") :]
    group = None
    for comment, end in re.findall(r"((?:  //.*\n)+)(\n|  [A-Z_]+ = \d+;)", body):
        words = " ".join(line.strip().lstrip("/").strip() for line in comment.strip().splitlines())
        if end == "\n":
            code, _, says = words.partition(". ")
            group = (code, says, [])
            yield group
        else:
            when, _, field = words.partition(" Field: ")
            group[2].append((end.split()[0], when, field.rstrip(".")))


def codes_of_server():
    rows = re.findall(r"\{ErrorReason::\w+, absl::StatusCode::k(\w+), \"([A-Z_]+)\"\}", SERVER.read_text())
    snake = {code: re.sub(r"(?<!^)([A-Z])", r"_\1", code).upper() for code, _ in rows}
    return {reason: snake[code] for code, reason in rows if reason != "UNKNOWN"}


def tables(groups):
    lines = []
    for code, says, reasons in groups:
        lines += [f"## {code}", "", says, "", "| reason | when | field |", "|---|---|---|"]
        lines += [f"| `{reason}` | {when} | {field} |" for reason, when, field in reasons]
        lines.append("")
    return "\n".join(lines)


def main():
    groups = list(groups_of_contract())
    listed = {reason: code for code, _, reasons in groups for reason, _, _ in reasons}
    if listed != codes_of_server():
        sys.exit(f"{PROTO.name} and {SERVER.name} differ: {set(listed.items()) ^ set(codes_of_server().items())}")
    page = PAGE.read_text()
    start = page.index("## ")
    if "--write" in sys.argv:
        PAGE.write_text(page[:start] + tables(groups))
    elif page[start:] != tables(groups):
        sys.exit(f"{PAGE.name} has not what the contract has: {sys.argv[0]} --write makes its tables")


if __name__ == "__main__":
    main()
