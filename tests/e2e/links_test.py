#!/usr/bin/env python3
"""The documentation hangs together: links_test.py TESTED_PAGE...

Every link to a file or a chapter leads somewhere, prose and the README are as long as a reader bears,
and every page with commands to run is among those that page_test.py tests.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
README_LINES = 250
COLUMNS = 100


def prose_of(page):
    """Yields the lines outside of blocks, with their numbers."""
    is_fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            is_fenced = not is_fenced
        elif not is_fenced:
            yield number, line


def anchors_of(page):
    """As GitHub makes them of headings."""
    headings = (line.lstrip("#") for _, line in prose_of(page) if re.match("#+ ", line))
    return {re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def faults_of(page):
    for number, line in prose_of(page):
        where = f"{page.relative_to(ROOT)}:{number}"
        is_table = line.startswith(("|", "<", " ", "!"))
        # A link is not read to its end.
        if len(re.sub(r"\]\([^)]*\)", "]", line)) > COLUMNS and not is_table:
            yield f"{where}: more than {COLUMNS} columns"
        for target in re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", line):
            target = target[0] or target[1]
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                yield f"{where}: there is no {path}"
            elif anchor and anchor not in anchors_of(file):
                yield f"{where}: {path or 'the page'} has no chapter #{anchor}"


def main():
    tested = set(sys.argv[1:])
    pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
    faults = [fault for page in pages for fault in faults_of(page)]
    for page in pages:
        name = str(page.relative_to(ROOT))
        if ("```console" in page.read_text()) != (name in tested):
            faults.append(f"{name}: it has commands to run and no test, or a test and no commands")
    lines = len((ROOT / "README.md").read_text().splitlines())
    if lines > README_LINES:
        faults.append(f"README.md: {lines} lines, more than {README_LINES}")
    print("\n".join(faults) or f"{len(pages)} pages")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
