"""The cases of h2spec, a test of HTTP/2 servers, where it is on the PATH."""

import re
import shutil
import subprocess
import tempfile

from target import Server, make_certificate, write_tokens

# What the RPC library lets pass: cases of these sections by number, as h2spec 2.2 counts them. None harms the
# server: it ignores the frame, or ends the call with a gRPC status where h2spec waits for RST_STREAM or GOAWAY.
KNOWN = {
    "4.1": (2, 3),  # Flags and bits that are reserved.
    "5.1": (1, 2, 3, 5, 6, 8, 9, 11, 12),  # Frames for calls that are idle or over are ignored.
    "5.1.1": (1, 2),
    "5.1.2": (1,),  # Calls above the limit get a status.
    "5.3.1": (1, 2),  # Priorities are not read.
    "5.4.1": (1,),
    "6.1": (1, 2, 3),
    "6.2": (3, 4),
    "6.3": (1, 2),
    "6.4": (1, 2),
    "6.7": (3,),
    "6.8": (1,),
    "6.9.1": (2, 3),
    "8.1.2": (1,),  # Wrong headers are answered by a status.
    "8.1.2.1": (1, 2, 4),
    "8.1.2.2": (1, 2),
    "8.1.2.3": (1, 2, 3, 4, 5, 6, 7),
    "8.1.2.6": (1, 2),
    "8.2": (1,),
}
# The gateway takes frames up to the size of its buffers, which are larger than what it announces.
KNOWN_OF_GATEWAY = {"4.2": (2, 3)}


def cases(output):
    """(section, number, passed) of each case in h2spec's report."""
    section, found = "", []
    for line in re.sub(r"\x1b\[[0-9;]*m", "", output).splitlines():
        if line.startswith("Failures:"):
            break
        if heading := re.match(r"\s+(\d[\d.]*)\.? [A-Z]", line):
            section = heading.group(1).rstrip(".")
        elif case := re.match(r"\s+([✔×✗]|skipped)\s*(\d+): (.*)", line):
            found.append((section, int(case.group(2)), case.group(3), case.group(1) == "✔"))
    return found


def run(program, kind):
    """Prints what failed, and returns how many of the cases did that are not known to."""
    if not shutil.which("h2spec"):
        print("h2spec is not on the PATH: its cases are left out")
        return 0
    known = KNOWN_OF_GATEWAY if kind == "gateway" else KNOWN
    unexpected = None
    with tempfile.TemporaryDirectory() as folder:
        write_tokens(folder)
        make_certificate(folder)
        with Server(program, kind, folder, limit_mib=1024) as server:
            command = ["h2spec", "http2", "-h", "127.0.0.1", "-p", str(server.target.address[1]), "-o", "1", "-P", "/"]
            if kind != "direct":
                command += ["-t", "-k"]
            # A case waits for one second: on a machine that does other things, what fails once says nothing.
            for _ in range(3):
                output = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False).stdout
                found = cases(output)
                failures = {case[:3] for case in found if not case[3]}
                others = {case for case in failures if case[1] not in known.get(case[0], ())}
                unexpected = others if unexpected is None else unexpected & others
                if found and not unexpected:
                    break
            alive = server.alive()
    print(
        f"h2spec: {len(found) - len(failures)} of {len(found)} cases passed, {len(failures - others)} are known to fail, "
        f"{len(unexpected)} others did; the server is {'alive' if alive else 'NOT ALIVE'}"
    )
    for section, number, text in sorted(unexpected):
        print(f"  {section}/{number} {text}")
    return len(unexpected) + (not alive) + (not found)
