#!/usr/bin/env python3
"""Times Waystar's search and other programs on the same queries, in turns, map by map, and compares them."""

import argparse
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HELP = """\
./dev bench peers compares Waystar's search with other people's programs: say, drivers around the libraries
warthog-jps (by ShortestPathLab) and mkpath (by MinusKelvin). They are no part of this project, and it does not
build them. WAYSTAR_PEERS names a folder with a subfolder for each way they were compiled (say O3 and native), and
in each the programs, by the names they have in the table. A program is called as

    PROGRAM MAP QUERIES PASSES

MAP is a Moving AI map whose cells are "." (free) or "@" (blocked). A line of QUERIES is "start_x start_y goal_x
goal_y". The program reads both, makes what it needs of the map, and answers all queries in order, PASSES times,
on one thread: the cheapest path, 8-connected, with no corner cutting, straight steps at 1 and diagonal ones at the
square root of 2, as the points of its corners in memory. For each query it prints a line "start_x start_y goal_x
goal_y nanoseconds cost": the query, the least wall time that it took in a pass, and the cost, "inf" if there is no
path. tests/bench/peers_bench.cc does this for Waystar.

With --dynamic maps change between queries, and a program is called as

    PROGRAM --dynamic MAP TRACE PASSES

A line of TRACE is "c x y 1" (blocks a cell), "c x y 0" (frees it) or "q start_x start_y goal_x goal_y". Adjacent "c"
lines are one change. The program plays the trace PASSES times, each time on the original map, and prints for each
change "c nanoseconds" and for each query "q nanoseconds cost". Programs that fail when called so are passed over.
"""
OWN = "waystar"
TOLERANCE = 1e-4
# In a process. A later pass finds memory that was touched before.
PASSES = 3
# Queries of fixed cost take well under a microsecond, and the least of many passes is steady.
FIXED_PASSES = 300
FIXED_CELLS = 20
FREE = ".GS"
# Queries between two changes.
QUERIES_BETWEEN = 4
QUERIES_OF_A_CROWD = 40
CHANGES = 150
# Obstacles that a generated trace has at a time.
OBSTACLES = 24
# Kinds of obstacles that come and go on generated traces; "mixed" has all of them.
CHANGING = ("cells", "blocks", "walls", "doors", "mixed")


class Failure(Exception):
    """A run that compares nothing: what to print."""


def map_text(rows):
    """A Moving AI map whose cells are "." or "@"."""
    lines = ["".join("." if cell in FREE else "@" for cell in row) for row in rows]
    return "\n".join(["type octile", f"height {len(rows)}", f"width {len(rows[0])}", "map", *lines, ""])


class Map:
    """A map below movingai/ and the queries chosen from its scenarios."""

    def __init__(self, path, root):
        self.path = path
        self.name = str(path.relative_to(root).with_suffix(""))
        self.kind = self.name.split("/")[0]

    def load(self, query_count):
        self.rows = self.path.read_text().split("map\n", 1)[1].split()
        self.text = map_text(self.rows)
        lines = pathlib.Path(f"{self.path}.scen").read_text().splitlines()[1:]
        scenarios = [tuple(int(word) for word in line.split()[4:8]) for line in lines if line.strip()]
        self.queries = evenly(scenarios, query_count)
        starts = evenly(sorted({query[:2] for query in scenarios}), FIXED_CELLS)
        self.fixed = {
            "start is goal": [(x, y, x, y) for x, y in starts],
            "next cell": [(x, y, x + 1, y) for x, y in starts if self.is_free(x + 1, y)],
        }

    def is_free(self, x, y):
        return 0 <= y < len(self.rows) and 0 <= x < len(self.rows[y]) and self.rows[y][x] in FREE


class Trace:
    """Changes of a map, and queries between them."""

    def __init__(self, name, rows, steps):
        self.name = name
        self.rows = rows
        self.steps = steps  # ("c", [(x, y, is blocked)...]) or ("q", (start x, start y, goal x, goal y))

    def text(self):
        lines = []
        for kind, what in self.steps:
            if kind == "q":
                lines.append("q {} {} {} {}".format(*what))
            else:
                lines += [f"c {x} {y} {int(blocked)}" for x, y, blocked in what]
        return "\n".join(lines) + "\n"

    def is_change(self):
        return [kind == "c" for kind, _ in self.steps]


def competition_trace(path):
    """A trace of the Grid-Based Path Planning Competition; see tests/testing/movingai_data.h."""
    head, commands = path.read_text().split("commands\n", 1)
    header = dict(line.split(None, 1) for line in head.splitlines() if " " in line)
    patches = []
    for text in (path.parent / header["patch"].strip()).read_text().split("\npatch ")[1:]:
        patches.append(text.split("map\n", 1)[1].split())
    rows = ["." * int(header["width"])] * int(header["height"])
    free = [[True] * len(row) for row in rows]
    steps = []
    for line in commands.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "Q":
            steps.append(("q", tuple(int(word) for word in words[2:6])))
            continue
        if not steps or steps[-1][0] == "q":
            steps.append(("c", []))
        patch, left, top = (int(word) for word in words[2:5])
        for y, row in enumerate(patches[patch]):
            for x, cell in enumerate(row, left):
                if free[top + y][x] != (cell not in "@T"):
                    free[top + y][x] = not free[top + y][x]
                    steps[-1][1].append((x, top + y, not free[top + y][x]))
    return Trace(path.stem, rows, [step for step in steps if step[1]])


class ChangingMap:
    """A map whose changes are generated: obstacles come and go, the oldest first."""

    def __init__(self, of_map, what, seed):
        self.random = random.Random(f"{of_map.name} {what} {seed}")
        self.map = of_map
        self.what = what
        self.obstacles = []
        self.free = [
            (x, y) for y, row in enumerate(of_map.rows) for x, cell in enumerate(row) if cell in FREE
        ]
        self.blocked = {}

    def line(self, x, y, length, is_row):
        return [(x + i, y) if is_row else (x, y + i) for i in range(length)]

    def door(self, x, y):
        """The shorter of the two runs of free cells through a cell, if it is short."""
        runs = []
        for dx, dy in ((1, 0), (0, 1)):
            run = [(x, y)]
            for sign in (1, -1):
                at = (x + sign * dx, y + sign * dy)
                while self.map.is_free(*at) and len(run) <= 6:
                    run.append(at)
                    at = (at[0] + sign * dx, at[1] + sign * dy)
            runs.append(run)
        return min(runs, key=len)

    def obstacle(self):
        what = self.random.choice(CHANGING[:-1]) if self.what == "mixed" else self.what
        x, y = self.random.choice(self.free)
        if what == "cells":
            return [(x, y)]
        if what == "walls":
            return self.line(x, y, self.random.randint(8, 32), self.random.random() < 0.5)
        if what == "blocks":
            side = self.random.randint(2, 8)
            return [(x + i % side, y + i // side) for i in range(side * side)]
        for _ in range(200):
            door = self.door(*self.random.choice(self.free))
            if len(door) <= 4:
                return door
        return [(x, y)]

    def toggle(self, cells, step):
        changed = []
        for x, y in cells:
            before = self.blocked.get((x, y), 0)
            self.blocked[x, y] = before + step
            if (before == 0) != (before + step == 0):
                changed.append((x, y, step > 0))
        return changed

    def change(self):
        """The oldest obstacle goes and another comes; never empty."""
        while True:
            cells = [cell for cell in self.obstacle() if self.map.is_free(*cell)]
            changed = {}
            if len(self.obstacles) >= OBSTACLES:
                changed.update({change[:2]: change for change in self.toggle(self.obstacles.pop(0), -1)})
            self.obstacles.append(cells)
            for change in self.toggle(cells, 1):
                if changed.pop(change[:2], None) is None:
                    changed[change[:2]] = change
            if changed:
                return list(changed.values())

    def is_free_now(self, x, y):
        return self.map.is_free(x, y) and not self.blocked.get((x, y))


def generated_trace(of_map, what, queries_between):
    changing = ChangingMap(of_map, what, queries_between)
    name = f"{of_map.name}, {what}" + (", crowd" if queries_between == QUERIES_OF_A_CROWD else "")
    queries = list(of_map.queries)
    changing.random.shuffle(queries)
    steps = [("c", [change for _ in range(OBSTACLES) for change in changing.change()])]
    while sum(kind == "c" for kind, _ in steps) < CHANGES:
        for _ in range(queries_between):
            for _ in range(len(queries)):
                query = queries.pop(0)
                queries.append(query)
                if changing.is_free_now(*query[:2]) and changing.is_free_now(*query[2:]):
                    steps.append(("q", query))
                    break
        steps.append(("c", changing.change()))
    return Trace(name, of_map.rows, steps)


class Program:
    """A program of WAYSTAR_PEERS in one of its builds, or Waystar's, which has no build."""

    def __init__(self, path, name, build=None):
        self.path = path
        self.name = name
        self.build = build

    def __str__(self):
        return f"{self.name} ({self.build})" if self.build else self.name

    def answers(self, map_file, queries, passes, folder):
        """Returns the nanoseconds and the cost of each query."""
        query_file = folder / "queries"
        query_file.write_text("".join("{} {} {} {}\n".format(*query) for query in queries))
        done = subprocess.run(
            [self.path, map_file, query_file, str(passes)], stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode != 0:
            raise Failure(f"{self} ended with {done.returncode}")
        lines = [line.split() for line in done.stdout.splitlines()]
        if [tuple(int(word) for word in line[:4]) for line in lines] != queries:
            raise Failure(f"{self} did not print the queries that it was asked")
        return [(float(line[4]), float(line[5])) for line in lines]

    def plays(self, map_file, trace_file, passes):
        """Returns the nanoseconds of each step and the cost of each query, or None if the program cannot."""
        done = subprocess.run(
            [self.path, "--dynamic", map_file, trace_file, str(passes)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            return None
        lines = [line.split() for line in done.stdout.splitlines()]
        return [float(line[1]) for line in lines], [float(line[2]) for line in lines if line[0] == "q"]


def evenly(items, count):
    """Returns at most so many of the items, spread evenly."""
    if len(items) <= count:
        return list(items)
    return [items[i * len(items) // count] for i in range(count)]


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def mean(values):
    return sum(values) / len(values)


def agree(one, other):
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= TOLERANCE * max(one, other)


def least_times(programs, map_file, queries, passes, rounds, folder):
    """Returns, by program, each query's least nanoseconds. Every round asks all programs, each time another first."""
    times = {program: [math.inf] * len(queries) for program in programs}
    costs = None
    for round_number in range(rounds):
        first = round_number % len(programs)
        for program in programs[first:] + programs[:first]:
            answers = program.answers(map_file, queries, passes, folder)
            costs = costs or [(program, cost) for _, cost in answers]
            for i, (nanos, cost) in enumerate(answers):
                if not agree(cost, costs[i][1]):
                    x, y, goal_x, goal_y = queries[i]
                    raise Failure(
                        f"from {x},{y} to {goal_x},{goal_y}: {program} says {cost}, {costs[i][0]} {costs[i][1]}"
                    )
                times[program][i] = min(times[program][i], nanos)
    return times


def least_steps(programs, trace, rounds, folder):
    """Returns, by program that can play the trace, each step's least nanoseconds."""
    map_file = folder / "map"
    trace_file = folder / "trace"
    map_file.write_text(map_text(trace.rows))
    trace_file.write_text(trace.text())
    times = {}
    costs = None
    for round_number in range(rounds):
        first = round_number % len(programs)
        for program in programs[first:] + programs[:first]:
            played = program.plays(map_file, trace_file, PASSES)
            if played is None and program is programs[0]:
                raise Failure(f"{trace.name}: {program} failed")
            if played is None:
                continue
            nanos, found = played
            costs = costs or (program, found)
            if len(nanos) != len(trace.steps):
                raise Failure(f"{trace.name}: {program} answers {len(nanos)} steps of {len(trace.steps)}")
            for one, other in zip(found, costs[1]):
                if not agree(one, other):
                    raise Failure(f"{trace.name}: {program} says {one}, {costs[0]} {other}")
            before = times.get(program, nanos)
            times[program] = [min(a, b) for a, b in zip(before, nanos)]
    return times


def print_dynamic_row(trace, times, own):
    """Prints a row, and returns the ratio for each build."""
    changes = trace.is_change()

    def parts(nanos):
        of_changes = [n for n, is_change in zip(nanos, changes) if is_change]
        of_queries = [n for n, is_change in zip(nanos, changes) if not is_change]
        return sum(nanos) / 1e6, mean(of_changes[1:] or of_changes) / 1000, mean(of_queries) / 1000

    total, change, query = parts(times[own])
    cells = [f"{trace.name:38} {total:9.2f} {change:9.2f} {query:9.2f}"]
    ratios = {}
    for build in sorted({program.build for program in times if program.build}):
        (best_total, best_change, best_query), name = min(
            (parts(nanos), str(program)) for program, nanos in times.items() if program.build == build
        )
        ratios[build] = best_total / total
        cells.append(f"{best_total:9.2f} {best_change:8.2f} {best_query:9.2f} {ratios[build]:6.2f}  {name:20}")
    print(" ".join(cells), flush=True)
    return ratios


def dynamic_traces(data, maps, options):
    """The competition's traces, and for each map a generated one, or with --all those of every kind of change."""
    for path in sorted((data / "gppc-dynamic").glob("*.scen")):
        if options.maps.search(path.stem):
            yield competition_trace(path)
    for number, one in enumerate(maps):
        one.load(options.queries)
        for what in CHANGING if options.all else [CHANGING[number % len(CHANGING)]]:
            yield generated_trace(one, what, QUERIES_BETWEEN)
        if number % len(CHANGING) == 0:
            yield generated_trace(one, "mixed", QUERIES_OF_A_CROWD)


def compare_dynamic(own, peers, data, maps, options):
    print("Milliseconds of a trace, and microseconds a change and a query: Waystar's, and for each build the best")
    print("peer's, with how many times longer that takes.")
    print(f"{'trace':38} {'total':>9} {'change':>9} {'query':>9}", flush=True)
    ratios = {}
    with tempfile.TemporaryDirectory() as name:
        for trace in dynamic_traces(data, maps, options):
            times = least_steps([own, *peers], trace, options.rounds, pathlib.Path(name))
            for build, ratio in print_dynamic_row(trace, times, own).items():
                ratios.setdefault(build, []).append((ratio, trace.name))
    for build, of_build in ratios.items():
        values = [ratio for ratio, _ in of_build]
        slower = sum(value < 1 for value in values)
        print(f"{build}: mean {geometric_mean(values):.2f} of {len(values)} traces, {slower} slower")


class Table:
    """Prints a row a map as it is measured, and at the end the geometric means."""

    def __init__(self, own, peers):
        self.own = own
        self.peers = peers
        self.builds = sorted({peer.build for peer in peers})
        self.ratios = []  # kind, name, and by build
        self.fixed = {}  # by kind of query: by program, one mean a map

    def print_header(self):
        print("Microseconds a query (mean), and how many times longer the best peer of a build takes.")
        cells = [f"{'map':28} {'queries':>7} {OWN:>9}"]
        for build in self.builds:
            cells += [f"{peer.name:>12}" for peer in self.of_build(build)] + [f"{build:>7}"]
        print(" ".join(cells), flush=True)

    def of_build(self, build):
        return [peer for peer in self.peers if peer.build == build]

    def add_map(self, of_map, times):
        means = {program: mean(nanos) / 1000 for program, nanos in times.items()}
        cells = [f"{of_map.name:28} {len(of_map.queries):7} {means[self.own]:9.2f}"]
        ratios = {}
        for build in self.builds:
            peers = self.of_build(build)
            ratios[build] = min(means[peer] for peer in peers) / means[self.own]
            cells += [f"{means[peer]:12.2f}" for peer in peers] + [f"{ratios[build]:7.2f}"]
        self.ratios.append((of_map.kind, of_map.name, ratios))
        print(" ".join(cells), flush=True)

    def add_fixed(self, kind, times):
        by_program = self.fixed.setdefault(kind, {})
        for program, nanos in times.items():
            by_program.setdefault(program, []).append(mean(nanos))

    def print_means(self):
        for build in self.builds:
            print(f"\nGeometric means beside the best peer of a map, {build}")
            print(f"{'class':12} {'maps':>5} {'slower':>7} {'mean':>6} {'worst':>6} {'best':>6}")
            for kind in sorted({kind for kind, _, _ in self.ratios}) + ["all"]:
                rows = [(ratios[build], name) for of, name, ratios in self.ratios if kind in (of, "all")]
                values = [ratio for ratio, _ in rows]
                print(
                    f"{kind:12} {len(rows):5} {sum(value < 1 for value in values):7} {geometric_mean(values):6.2f}"
                    f" {min(values):6.2f} {max(values):6.2f}  worst: {min(rows)[1]}"
                )

    def print_fixed(self):
        print("\nFixed costs in ns, with the clock's own: the mean of the maps")
        for kind, by_program in self.fixed.items():
            print(kind)
            for program, values in by_program.items():
                print(f"  {str(program):28} {mean(values):7.0f}")


def find_peers(folder):
    peers = [
        Program(path, path.name, path.parent.name)
        for path in sorted(folder.glob("*/*"))
        if path.is_file() and os.access(path, os.X_OK)
    ]
    if not peers:
        raise Failure(f"there is no program in a subfolder of {folder}\n\n{HELP}")
    return peers


def find_maps(data, pattern):
    root = data / "movingai"
    maps = [Map(path, root) for path in sorted(root.rglob("*.map")) if pathlib.Path(f"{path}.scen").exists()]
    chosen = [one for one in maps if pattern.search(one.name)]
    if not chosen:
        raise Failure(f"no map below {root} has such a name")
    return chosen


def folder_of(variable, purpose):
    folder = pathlib.Path(os.environ.get(variable, ""))
    if not os.environ.get(variable) or not folder.is_dir():
        raise Failure(f"{variable} names no folder with {purpose}")
    return folder


def compare(options):
    own = Program(options.own, OWN)
    peers = find_peers(folder_of("WAYSTAR_PEERS", f"programs to compare with\n\n{HELP}"))
    data = folder_of("WAYSTAR_DATA", "the Moving AI maps")
    maps = find_maps(data, options.maps)
    if options.dynamic:
        compare_dynamic(own, peers, data, maps, options)
        return
    table = Table(own, peers)
    table.print_header()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        map_file = folder / "map"
        for one in maps:
            one.load(options.queries)
            map_file.write_text(one.text)
            programs = [own, *peers]
            table.add_map(one, least_times(programs, map_file, one.queries, PASSES, options.rounds, folder))
            for kind, queries in one.fixed.items():
                if queries:
                    times = least_times(programs, map_file, queries, FIXED_PASSES, options.rounds, folder)
                    table.add_fixed(kind, times)
    table.print_means()
    table.print_fixed()


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main():
    parser = argparse.ArgumentParser(
        prog="./dev bench peers", description=__doc__, epilog=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--own", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--maps", type=re.compile, default=re.compile(""), help="a regular expression: dao/|rooms/8")
    parser.add_argument("--rounds", type=positive, default=5, help="turns of all programs; a query's time is its least")
    parser.add_argument("--queries", type=positive, default=100, help="for each map, taken evenly from its scenarios")
    parser.add_argument("--dynamic", action="store_true", help="maps that change between queries")
    parser.add_argument("--all", action="store_true", help="with --dynamic: every kind of change on every map")
    try:
        compare(parser.parse_args())
    except Failure as failure:
        print(f"./dev bench peers: {failure}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
