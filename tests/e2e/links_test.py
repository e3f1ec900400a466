#!/usr/bin/env python3
"""The documentation hangs together: links_test.py TESTED_PAGE...

Every link to a file or a chapter leads somewhere, prose and the README are as long as a reader bears,
and every page with commands to run is among those that page_test.py tests. Sources, comments and
configurations name only files and chapters that exist: docs/http.md, docs/http.md#errors,
chapter "Errors" of docs/http.md.
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
README_LINES = 250
COLUMNS = 100
FOLDERS = (".ci", "client", "docker", "docs", "proto", "server", "tests")
# Folders of built files, data, and other people's files.
SKIPPED = {"approved", "build", "corpus", "data", "node_modules", "third_party", "__pycache__"}
# Files that builds and users make.
MADE = re.compile(r"docker/secrets/|\.pb\.h$")
SUFFIX = r"\.(?:cc|cfg|cs|go|h|md|png|proto|py|sh|svg|ts|txt|yaml|yml)\b"
PATH = re.compile(rf"(?<![\w.~-])((?:{'|'.join(FOLDERS[1:])})/[\w./-]*{SUFFIX})(?:#([\w-]+))?")
# A comment of one line, and in it the name of a file without a folder.
COMMENT = re.compile(r"(?:^|\s)(?://|#)(?!include)(.*)")
NAME = re.compile(rf"(?<![\w./$*{{}}-])[a-z][\w-]*{SUFFIX}")
TITLE = re.compile(r'chapter "([^"]+)" of ([\w./-]+\.md)')
VAGUE = re.compile(r"(?:README|\.md)'s chapter.{20}")


def prose_of(page):
    """Yields the lines outside of blocks, with their numbers."""
    is_fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            is_fenced = not is_fenced
        elif not is_fenced:
            yield number, line


@functools.lru_cache(None)
def anchors_of(page):
    """As GitHub makes them of headings."""
    headings = (line.lstrip("#") for _, line in prose_of(page) if re.match("#+ ", line))
    return {re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def faults_of(page):
    for number, line in prose_of(page):
        where = f"{page.relative_to(ROOT)}:{number}"
        is_table = line.startswith(("|", "<", " ", "!"))
        # A link is not read to its end, and records of figures are not read as prose.
        if page.name != "RESULTS.md" and len(re.sub(r"\]\([^)]*\)", "]", line)) > COLUMNS and not is_table:
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


def text_files():
    folders = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    for path in sorted([*ROOT.glob("*"), *folders]):
        if path.is_file() and not SKIPPED.intersection(path.relative_to(ROOT).parts):
            try:
                yield path, path.read_text()
            except UnicodeDecodeError:
                yield path, ""


def stale_names(path, text, names):
    """Yields the files and chapters that a text names and that do not exist."""
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path.relative_to(ROOT)}:{number}"
        for file, anchor in PATH.findall(line):
            found = [base / file for base in (ROOT, ROOT / "server", path.parent) if (base / file).exists()]
            if not found and not MADE.search(file):
                yield f"{where}: there is no {file}"
            elif found and anchor and anchor not in anchors_of(found[0]):
                yield f"{where}: {file} has no chapter #{anchor}"
        if path.suffix != ".md" and (comment := COMMENT.search(line)):
            yield from (f"{where}: there is no {name}" for name in NAME.findall(comment[1]) if name not in names)
    # A phrase may go on in the next line of a comment.
    flat = re.sub(r"\n\s*(?://+|#+)?\s*", " ", text)
    for title, file in TITLE.findall(flat):
        if f"# {title}\n" not in (ROOT / file).read_text():
            yield f'{path.relative_to(ROOT)}: {file} has no chapter "{title}"'
    for phrase in VAGUE.findall(flat):
        yield f'{path.relative_to(ROOT)}: write chapter "TITLE" of FILE in place of: {phrase}'


def main():
    tested = set(sys.argv[1:])
    pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
    texts = dict(text_files())
    faults = [fault for page in texts if page.suffix == ".md" for fault in faults_of(page)]
    names = {path.name for path in texts}
    faults += [fault for path, text in texts.items() for fault in stale_names(path, text, names)]
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
