#!/usr/bin/env python3
"""Times Waystar's search and other programs on the same queries, in turns, map by map, and compares them."""

import argparse
import math
import os
import pathlib
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
"""
OWN = "waystar"
TOLERANCE = 1e-4
# In a process. A later pass finds memory that was touched before.
PASSES = 3
# Queries of fixed cost take well under a microsecond, and the least of many passes is steady.
FIXED_PASSES = 300
FIXED_CELLS = 20
FREE = ".GS"


class Failure(Exception):
    """A run that compares nothing: what to print."""


class Map:
    """A map below movingai/ and the queries chosen from its scenarios."""

    def __init__(self, path, root):
        self.path = path
        self.name = str(path.relative_to(root).with_suffix(""))
        self.kind = self.name.split("/")[0]

    def load(self, query_count):
        header, rows = self.path.read_text().split("map\n", 1)
        self.rows = rows.split()
        self.text = header + "map\n" + "".join(
            "".join("." if cell in FREE else "@" for cell in row) + "\n" for row in self.rows
        )
        lines = pathlib.Path(f"{self.path}.scen").read_text().splitlines()[1:]
        scenarios = [tuple(int(word) for word in line.split()[4:8]) for line in lines if line.strip()]
        self.queries = evenly(scenarios, query_count)
        starts = evenly(sorted({query[:2] for query in scenarios}), FIXED_CELLS)
        self.fixed = {
            "start is goal": [(x, y, x, y) for x, y in starts],
            "next cell": [(x, y, x + 1, y) for x, y in starts if self.is_free(x + 1, y)],
        }

    def is_free(self, x, y):
        return x < len(self.rows[y]) and self.rows[y][x] in FREE


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
    maps = find_maps(folder_of("WAYSTAR_DATA", "the Moving AI maps"), options.maps)
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
    try:
        compare(parser.parse_args())
    except Failure as failure:
        print(f"./dev bench peers: {failure}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
