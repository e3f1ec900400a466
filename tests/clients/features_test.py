#!/usr/bin/env python3
"""docs/clients.md and the READMEs of the client libraries say what their sources have.

A row of the table "Features" says yes where a library has the name by which programs use the feature. Each
`name(` and `.name` in the code of a README is a name of the library, its example or the protos. The game
loops in docs/agents.md are lines of the examples.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/clients.md"
SOURCES = {
    "C++": ["client/*.h", "client/*.cc"],
    "Python": ["client/python/waystar/*.py"],
    "TypeScript": ["client/typescript/src/*.ts"],
    "Go": ["client/go/*.go"],
    "C#": ["client/csharp/Runtime/*.cs", "client/csharp/Grpc/*.cs"],
}
# The README of a library, and what else has names that it may use.
READMES = {
    "Python": ("python", ["client/examples/python/*.py"]),
    "TypeScript": ("typescript", ["client/examples/node/*.js"]),
    "Go": ("go", ["client/examples/go/*/*.go"]),
    "C#": ("csharp", ["client/examples/csharp/*.cs", "client/csharp/Samples~/*/*.cs"]),
}
# Pages that show parts of an example, in blocks of that language.
EXCERPTS = [
    ("docs/agents.md", "python", "client/examples/python/game_loop.py"),
    ("docs/agents.md", "js", "client/examples/node/game_loop.js"),
]
NEVER = r"(?!)"
# By the first cell of a row: what is found in the source of each language, in the order of SOURCES, if the
# language has the feature. Where it has not, that is a guess at the name that it would have.
FEATURES = {
    "a deadline on each call, 5 s by default": [
        r"timeout = absl::Seconds\(5\)", r"timeout: float = 5\.0", r"timeoutMs = 5000",
        r"defaultTimeout += 5 \* time\.Second", r"Timeout .* TimeSpan\.FromSeconds\(5\)",
    ],
    "a deadline for a single call": [
        r"> FindPath\([^)]*Duration", r"def find_path\(.*timeout: Seconds", r"findPath\(.*options: FindPathOptions",
        r"FindPath\(ctx context\.Context", r"(?s)FindPathAsync\([^)]*TimeSpan\? timeout",
    ],
    "a deadline for a query on a stream": [
        r"> FindPath\([^)]*Duration", r"class PathStream\(.*\):\n    def find_path\(.*timeout",
        r"findPath\(map: string,.*options: Options", r"\(p \*PathStream\) FindPath\(ctx context\.Context",
        r"FindPathAsync\(FindPathRequest query, TimeSpan\? timeout",
    ],
    "retries of calls that only read, after the delay that the server asks for": [
        r"RetryDelayOf\(", r"self\.retry_delay", r"readonly retryDelayMs", r"RetryDelay +time\.Duration",
        r"TimeSpan RetryDelay",
    ],
    "retries of updates, which get a `request_id`": [
        r"set_request_id\(", r"\"request_id\": uuid", r"requestId: newRequestId\(\)", r"RequestId: rand\.Text\(\)",
        r"RequestId = requestId \?\? Guid",
    ],
    "queries that see own changes, and others by `NoteChange`": [
        r"void NoteChange\(", r"def note_change\(", r"noteChange\(map: string", r"\) NoteChange\(", r"void NoteChange\(",
    ],
    "watches that go on after a lost connection": [
        r"mutable_after\(", r"def watch\(", r"\*watch\(", r"\(m \*Map\) Watch\(", r"Task WatchAsync\(",
    ],
    "many queries on one stream, asked again when it is lost": [
        r"class PathStream(?:(?!\n\};)[\s\S])*\bFindPath\(const", r"class PathStream\(", r"class PathStream extends",
        r"\(p \*PathStream\) FindPath\(", r"class PathStream :",
    ],
    "agents that walk, also while a server restarts": [
        r"class AgentFollower \{", r"def follow_agents\(", r"followAgents\(settings", r"\(c \*Client\) FollowAgents\(",
        r"AgentFollower FollowAgents\(",
    ],
    "agents that go to other maps": [
        r"void MoveTo\(.*const std::string& map", r"def move_to\(.*, map: str", r"moveTo\(.*, map\?: string",
        r"\) MoveToMap\(", r"void MoveTo\(.*, string map",
    ],
    "the rest of an agent's path from its place": [
        r"\bAhead\(", r"def ahead\(", r"\bahead\(", r"\) Ahead\(", r"\bAhead\(",
    ],
    "the version at which all agents' paths are right": [
        r"\bProgressOf\(", r"def progress_of\(", r"\bprogressOf\(", r"\) ProgressOf\(", r"\bProgressOf\(",
    ],
    "streams opened again after the delay that the server asks for": [
        r"Wait\(std::max\(", r"max\(self\._delay, error\.retry_delay\)", r"Math\.max\(.*retryDelayMs",
        r"max\(pause, failure\.RetryDelay\)", r"Math\.Max\(.*RetryDelay",
    ],
    "servers noticed that are gone without a word": [
        r"KEEPALIVE_TIME_MS", r"keepalive_time_ms", r"keepalive_time_ms", r"WithKeepaliveParams", r"longestSilence",
    ],
    "moves judged by `CheckMoves`": [
        r"> CheckMoves\(", r"def check_moves\(self", r"checkMoves\(moves", r"\(m \*Map\) CheckMoves\(",
        r"CheckMovesAsync\(",
    ],
    "several servers that take turns": [
        r"bool StandsForSeveralServers\(", r"several servers that take turns", r"readonly hasSeveralServers",
        r"several servers with the same maps that take turns", r"Several servers take turns",
    ],
    "health checks of several servers": [
        r"INHIBIT_HEALTH_CHECKING", r"inhibit_health_checking", r"healthCheckConfig|Health\.method",
        r"healthCheckConfig", r"Health/Check",
    ],
    "changes through any server of a fleet": [
        r"bool (?:is_)?fleet", r"fleet: bool", r"fleet\?: boolean", r"Fleet +bool", r"bool (?:Is)?Fleet",
    ],
    "calls that wait for a server, if asked to": [
        r"bool wait_for_ready", r"wait_for_ready: bool", r"waitForReady\?: boolean", r"WaitForReady\(true\)",
        r"bool WaitForReady",
    ],
    "TLS, with own authorities and client certificates": [
        r"std::string cert_file", r"cert_file: str", r"tls\?: \{ ca\?: Buffer; cert\?", r"TLS \*tls\.Config",
        r"HttpTransport\(HttpMessageHandler handler",
    ],
    "tokens, not sent unencrypted to another machine": [
        r"std::string token;", r"token: str", r"token\?: string", r"Token string", r"string Token",
    ],
    "calls that do not block": [
        r"\bFindPathAsync\(", r"async def find_path\(", r"async findPath\(", r"\) FindPathAsync\(", r"\bFindPathAsync\(",
    ],
    "pages of the web": [NEVER, NEVER, r"class HttpTransport", NEVER, r"class UnityTransport"],
    "Unity": [NEVER, NEVER, NEVER, NEVER, r"class UnityTransport"],
    "all other calls and streams": [
        r"StreamUpdates\(\) const", r"MapServiceStub\(", r"  stream<I", r"pb\.MapServiceClient", r"> OpenAsync<",
    ],
}


def text_of(patterns):
    paths = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return "\n".join(path.read_text() for path in paths)


def rows_of(page):
    """Yields the cells of the rows below the heading "Features", first the names of the languages."""
    _, _, chapter = page.partition("\n## Features\n")
    for line in chapter.partition("\n## ")[0].splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def faults_of_table(sources):
    (_, *languages), *rows = rows_of(PAGE.read_text())
    if languages != list(sources):
        yield f"{PAGE.name}: the table is about {languages}, not {list(sources)}"
    named = [row[0] for row in rows]
    yield from (f"{PAGE.name}: there is no row \"{each}\"" for each in FEATURES if each not in named)
    for feature, *cells in rows:
        if feature not in FEATURES:
            yield f"{PAGE.name}: this test does not know the row \"{feature}\""
            continue
        for language, cell, pattern in zip(sources, cells, FEATURES[feature], strict=True):
            has_name = re.search(pattern, sources[language]) is not None
            if has_name and not cell.startswith("yes"):
                yield f"{PAGE.name}: {feature}: {language} has {pattern}, and the table says \"{cell}\""
            if not has_name and cell.startswith("yes"):
                yield f"{PAGE.name}: {feature}: {language} has no {pattern}, and the table says \"{cell}\""


def folded(name):
    """Fields and values of the protos have another case in each language."""
    return name.replace("_", "").lower()


def code_of(readme):
    """Yields spans of code and lines of programs, with the numbers of their lines."""
    block = None
    for number, line in enumerate(readme.read_text().splitlines(), 1):
        if line.startswith("```"):
            block = line.strip("`") if block is None else None
        elif block is None:
            yield from ((number, span) for span in re.findall(r"`([^`]+)`", line))
        elif block != "sh":
            yield number, line


def faults_of_readme(readme, text, protos):
    words = set(re.findall(r"\w+", text))
    called = {"Array", *re.findall(r"(\w+)(?:<[^()]*>)?(?: = )?\(", text)}
    for number, code in code_of(readme):
        # Names of files and addresses have dots too.
        code = re.sub(r"\S*/\S*|\S*\.(?:sh|py|cs|csproj|tgz)\b", "", code)
        names = [(f"{name}(", name, called) for name in re.findall(r"(\w+)\(", code)]
        names += [(f".{name}", name, words) for name in re.findall(r"\.([A-Za-z_]\w*)", code)]
        for shown, name, known in names:
            # Stubs of Go have GetPath and Outcome_OUTCOME_FOUND.
            generated = {folded(name), folded(re.sub(r"^(Get|[A-Z]\w*?_)(?=[A-Z])", "", name))}
            if name not in known and not generated & protos:
                yield f"{readme.relative_to(ROOT)}:{number}: no source or example has {shown}"


def stripped(text):
    return "".join(line.strip() + "\n" for line in text.splitlines())


def faults_of_excerpt(page, language, example):
    """`…`, a blank line and a comment that ends with a colon stand for any lines."""
    code = stripped((ROOT / example).read_text())
    for block in re.findall(rf"(?s)\n```{language}\n(.*?)\n```\n", (ROOT / page).read_text()):
        for part in re.split(r"(?m)^ *(?:…|[#/]+ .*:)?\n", block + "\n"):
            if stripped(part) not in code:
                yield f"{page}: {example} has not these lines:\n{part}"


def main():
    sources = {language: text_of(patterns) for language, patterns in SOURCES.items()}
    protos = set(map(folded, re.findall(r"\w+", text_of(["proto/waystar/v1/*.proto"]))))
    faults = list(faults_of_table(sources))
    for language, (folder, examples) in READMES.items():
        text = sources[language] + text_of(examples)
        faults += faults_of_readme(ROOT / "client" / folder / "README.md", text, protos)
    for excerpt in EXCERPTS:
        faults += faults_of_excerpt(*excerpt)
    print("\n".join(faults) or f"{len(FEATURES)} features")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
