#!/usr/bin/env python3
"""A page of the documentation does what it says: page_test.py PROGRAMS PAGE [--write].

Runs the commands of the page's `console` blocks, one after the other, in a folder that looks like
a fresh checkout, and compares what they print with what the page shows. Exits with 77 if a tool
that the page uses is not installed.

A command begins with `$ ` and goes on until the shell takes it for complete. The lines after it
are its output, in which `…` stands for any text and a line of `…` for any lines. Times, epochs,
tokens and the like are not compared. The word `background` after `console` marks what runs in
another terminal until the page ends; `figures` marks output of which no number is compared.
Blocks of other kinds are not run: `sh` is for what needs a Docker engine or a build. One that names
a file, as in ```python units.py, is that file. With --write the page is changed to show what is
printed, where that is another text: read what it shows then.
"""

import dataclasses
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from programs import own_host

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Seconds that a busy machine may take to come to what it comes to in a moment.
PATIENCE = 2 if "--write" in sys.argv else 60
# And to end a command that takes its time anyway.
COMMAND_PATIENCE = 240
TOOLS = ("curl", "grpcurl", "openssl", "python3")
# CI does without these, as it does for the tests of the client libraries.
OPTIONAL_TOOLS = ("etcd", "mcs")

# What no two runs have in common, and what stands for it.
VARYING = [
    (r"\b\d{4}-\d\d-\d\dT[\d:.]+(Z|\+[\d:]+)", "TIME"),
    (r"\b\d\d:\d\d:\d\d\.\d+", "TIME"),
    (r"(?<![\w.])\d+(\.\d+)?(e-\d+)? ?(ns|us|µs|ms|s)\b", "DURATION"),
    (r'"(\w*_?bytes|epoch)": "?\d+"?', r'"\1": N'),
    (r"\bwst_[\w-]+", "TOKEN"),
    (r"\bsha256:[0-9a-f]+", "HASH"),
    (r"\bepoch [0-9a-f]+", "epoch N"),
    (r"\bpid \d+|\bprocess \d+", "process N"),
    (r"\blocalhost:|\b127\.0\.0\.1:", "HOST:"),
    (r'": +', '": '),
    # What a load generator adds on a machine that is busy with other things.
    (r"(?m)^  The sender did not keep its schedule\.(.*\n)*?.*--in-flight\.\n", ""),
]


@dataclasses.dataclass
class Command:
    line: int
    text: str
    words: list
    shown: list
    printed: str = ""
    is_wrong: bool = False


def is_complete(text):
    """Whether a shell would begin to run this, rather than ask for another line."""
    if text.endswith("\\"):
        return False
    check = subprocess.run(["bash", "-n", "-c", text], capture_output=True, text=True, check=False)
    return "unexpected EOF" not in check.stderr and "here-document" not in check.stderr


def commands_of(page):
    commands = []
    block = None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            block = line[3:].split() if block is None else None
        elif not block or block[0] != "console":
            continue
        elif commands and commands[-1].shown is None:
            commands[-1].text += "\n" + line
        elif line.startswith("$ "):
            commands.append(Command(number, line[2:], block[1:], None))
        elif commands:
            commands[-1].shown.append(line)
        if commands and commands[-1].shown is None and is_complete(commands[-1].text):
            commands[-1].shown = []
    return commands


def files_of(page):
    """Returns the names and texts of the blocks that are files."""
    return re.findall(r"^```\w+ (\S+\.\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def comparable(text, words):
    for pattern, stand_in in VARYING:
        text = re.sub(pattern, stand_in, text)
    if "figures" in words:
        # Columns are as wide as their numbers, and bars as long.
        text = re.sub(r"DURATION|#+|-?\d+(\.\d+)?%?", "N", text)
        text = re.sub(r"[ \t]+", " ", text)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if "figures" in words:
        # Histograms have as many rows as it takes.
        lines = [line for line, next_line in zip(lines, lines[1:] + [None]) if line != next_line]
    return lines


def matches(shown, printed, words):
    pattern = ""
    for line in comparable("\n".join(shown), words):
        if line.strip() == "…":
            pattern += r"(.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("…")) + r"\n"
    lines = comparable(printed, words)
    return re.fullmatch(pattern, "".join(line + "\n" for line in lines)) is not None


class Terminal:
    """A shell in a folder that looks like a fresh checkout, on an address of its own.

    All of 127.0.0.0/8 is this machine, so pages keep their ports and run beside each other.
    """

    def __init__(self, programs, folder, files):
        self.folder = folder
        self.address = own_host()
        for entry in ROOT.iterdir():
            if entry.name not in ("build", "dev", ".git"):
                (folder / entry.name).symlink_to(entry)
        for name, text in files:
            (folder / name).write_text(self.localized(text))
        (folder / "build/release").mkdir(parents=True)
        (folder / "build/release/bin").symlink_to(programs)
        # The program is built already.
        dev = folder / "dev"
        dev.write_text(
            "#!/bin/sh\nshift\nexec build/release/bin/waystar-server --maps_dir=server/samples "
            f'--http_listen={self.address}:8080 "$@"\n'
        )
        dev.chmod(0o755)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("WAYSTAR_")}
        environment.update(
            LC_ALL="C.UTF-8",
            WAYSTAR_SERVER=f"{self.address}:7450",
            WAYSTAR_LISTEN=f"{self.address}:7450",
            # A machine that is busy with other tests is no reason to refuse a call.
            WAYSTAR_MAX_QUEUE_TIME="1m",
            WAYSTAR_QUEUE_TARGET="1m",
        )
        self.done, done = os.pipe()
        self.shell = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, cwd=folder, env=environment, pass_fds=[done], text=True, start_new_session=True
        )
        self.done_in_shell = done

    def localized(self, text):
        return re.sub(r"\blocalhost(?=:\d)|127\.0\.0\.1|0\.0\.0\.0", self.address, text)

    def run(self, number, command):
        """Runs a command, in the background if it says so, and returns the file of its output."""
        text = self.localized(command.text)
        source = self.folder / f".command-{number}"
        output = self.folder / f".output-{number}"
        if "background" in command.words:
            text = "{ " + text + "\n} &"
        source.write_text(text + "\n")
        self.shell.stdin.write(
            f"source {source} >{output} 2>&1 </dev/null {self.done_in_shell}>&-; echo >&{self.done_in_shell}\n"
        )
        self.shell.stdin.flush()
        if not select.select([self.done], [], [], COMMAND_PATIENCE)[0]:
            printed = output.read_text(errors="replace")
            raise RuntimeError(f"waited in vain for the end of: {command.text}\nIt prints:\n{printed}")
        os.read(self.done, 1)
        if "background" in command.words or text.endswith("&"):
            self.wait_until_ready(text, command, output)
        return output

    def wait_until_ready(self, text, command, output):
        if "waystar-server" in text or "./dev run" in text:
            port = re.search(r"--listen[= ]\S+:(\d+)", text)
            port = int(port[1]) if port else 7450
            wait_until(lambda: self.accepts(port) and self.serves(output), f"service by: {text}")
        elif command.shown:
            wait_until(lambda: output.read_text(), f"the first words of: {text}")

    def accepts(self, port):
        with socket.socket() as connection:
            return connection.connect_ex((self.address, port)) == 0

    def serves(self, output):
        """It listens before it has read its maps."""
        logs = [output, *self.folder.glob("*.log")]
        return any("event=serving " in log.read_text(errors="replace") for log in logs)

    def close(self):
        os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()


def wait_until(holds, what):
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            print(f"waited in vain for {what}")
            return
        time.sleep(0.02)


def judge(page, command, output, terminal):
    """Returns whether the command has printed what the page shows."""

    def holds():
        printed = output.read_text(errors="replace").replace(terminal.address + ":", "localhost:")
        command.printed = printed.replace(terminal.address, "127.0.0.1")
        return matches(command.shown, command.printed, command.words)

    if "background" in command.words:
        # A server that shows nothing logs what it likes.
        if not command.shown:
            return True
        wait_until(holds, f"what the page shows of: {command.text}")
    if holds():
        return True
    command.is_wrong = True
    shown = "\n".join(command.shown)
    print(f"FAILED: {page}:{command.line}: $ {command.text}\nThe page shows:\n{shown}\nIt prints:\n{command.printed}")
    return False


def write(page, commands):
    lines = page.read_text().splitlines()
    for command in reversed(commands):
        if command.is_wrong:
            begin = command.line + command.text.count("\n")
            lines[begin : begin + len(command.shown)] = [line.rstrip() for line in command.printed.splitlines()]
    page.write_text("\n".join(lines) + "\n")


def main():
    programs, page = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    commands = commands_of(page)
    for tool in (*TOOLS, *OPTIONAL_TOOLS):
        if any(re.search(rf"\b{tool}\b", command.text) for command in commands) and not shutil.which(tool):
            print(f"{tool} is not on the PATH")
            return 1 if os.environ.get("CI") and tool in TOOLS else 77
    with tempfile.TemporaryDirectory() as folder:
        terminal = Terminal(programs, pathlib.Path(folder), files_of(page))
        try:
            held = True
            running = []
            for number, command in enumerate(commands):
                output = terminal.run(number, command)
                if "background" in command.words:
                    running.append((command, output))
                else:
                    held = judge(page, command, output, terminal) and held
            for command, output in running:
                held = judge(page, command, output, terminal) and held
            if "--write" in sys.argv:
                write(page, commands)
        finally:
            terminal.close()
    print(f"{len(commands)} commands" if held else "see above")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
