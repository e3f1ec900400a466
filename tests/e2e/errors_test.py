#!/usr/bin/env python3
"""docs/errors.md lists the reasons as the contract and the server have them: errors_test.py [--write]

With --write the page's tables are made from the contract instead.
"""

import re
import sys

import protos

PROTO = protos.FOLDER / "error_reason.proto"
SERVER = protos.ROOT / "server/base/error.cc"
PAGE = protos.ROOT / "docs/errors.md"


def groups_of_contract():
    """Returns for each code what it says, and its reasons with when they come and the field they blame."""
    enum = next(declaration for declaration in protos.declarations(PROTO) if declaration.kind == "enum")
    groups = []
    for declaration in enum.children:
        words = " ".join(declaration.comment)
        if not declaration.statement:
            code, _, says = words.partition(". ")
            groups.append((code, says, []))
        elif groups:
            when, _, field = words.partition(" Field: ")
            groups[-1][2].append((declaration.kind, when, field.rstrip(".")))
    return groups


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
    groups = groups_of_contract()
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
