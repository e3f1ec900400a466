#!/usr/bin/env python3
"""docs/configuration.md has the flags of the server as --help prints them: flags_test.py BIN [--write]

BIN is the folder of the programs. With --write the tables are made from the program instead.
"""

import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/configuration.md"
HEADING = "\n## Flags\n"


def code(text):
    return f"`{text}`" if text else ""


def tables():
    server = pathlib.Path(sys.argv[1]) / "waystar-server"
    text = subprocess.run([server, "--help"], check=False, capture_output=True, text=True).stdout
    for title, flags in re.findall(r"^(\S.*):\n((?:  .*\n)+)", text, re.MULTILINE):
        yield from ["", f"### {title}", "", "| flag | values | default | meaning |", "|---|---|---|---|"]
        for name, values, default, meaning in re.findall(r"  (--\w+) \((.*?)(?:; default (.*))?\)\n((?:      .*\n)+)", flags):
            words = re.sub(r"--\w+(=\w+)?|\w+_\w+|\*", r"`\g<0>`", " ".join(meaning.split()))
            yield f"| `{name}` | {values} | {code(default)} | {words} |"


def main():
    page = PAGE.read_text()
    made = page[: page.index(HEADING) + len(HEADING)] + "\n".join(tables()) + "\n"
    if "--write" in sys.argv:
        PAGE.write_text(made)
    elif page != made:
        sys.exit(f"{PAGE.name} has other flags than the server: {sys.argv[0]} {sys.argv[1]} --write makes them")


if __name__ == "__main__":
    main()
