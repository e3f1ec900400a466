"""What single modules of the server's page do, run in the browser that shows the page."""

import itertools
import math


def run(page, module, script, *arguments):
    """Runs a script on the module `m`, and returns what it returns."""
    return page.browser.run(f"return import('/{module}').then((m) => {{ {script} }})", *arguments)


def lay_out(page, count, links):
    places = run(page, "graph_layout.js", "return m.layOut(...arguments[0])", [count, links])
    return [(place["x"], place["y"]) for place in places]


def test_layout(page, _programs):
    ring = [(i, (i + 1) % 30) for i in range(30)]
    star = [(0, i) for i in range(1, 30)]
    parts = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7)]
    for count, links in [(2, []), (2, [(0, 1)]), (3, []), (8, parts), (30, ring), (30, star), (2000, [])]:
        places = lay_out(page, count, links)
        assert places == lay_out(page, count, links)
        size = max(max(map(abs, place)) for place in places)
        least = min(math.dist(a, b) for a, b in itertools.combinations(places, 2))
        # Apart in a picture of a thousand pixels.
        assert least / size * 500 > 1.5, (count, links, least, size)
    places = lay_out(page, 30, ring)
    beside = max(math.dist(places[a], places[b]) for a, b in ring)
    across = math.dist(places[0], places[15])
    assert across > 3 * beside, (beside, across)


def test_layout_is_for_graphs_without_places(page, _programs):
    def needs(*places):
        nodes = [{"x": x, "y": y} for x, y in places]
        return run(page, "graph_layout.js", "return m.needsLayout(arguments[0])", nodes)
    assert needs((0, 0), (0, 0))
    assert needs((7, 2), (7, 2), (7, 2))
    assert not needs((0, 0), (0, 0), (0, 1))
    assert not needs((0, 0))
    assert not needs()


def test_links(page, _programs):
    def links(**edges):
        """Of nodes with edges such as "b" or, if closed, "-b"."""
        nodes = [{"id": name, "index": i, "edges": [{"to": to[-1], "open": len(to) == 1} for to in ends.split()]}
                 for i, (name, ends) in enumerate(edges.items())]
        found = run(page, "graph_model.js", """
            const nodes = arguments[0];
            const links = m.linksOf(nodes, new Map(nodes.map((node) => [node.id, node])));
            return links.map(({ from, to, isOpen, isOneWay }) => [from.id, to.id, isOpen, isOneWay]);""", nodes)
        return [(a + (">" if one_way else "-") + b, is_open) for a, b, is_open, one_way in found]
    assert links(a="b", b="a") == [("a-b", True)]
    assert links(a="b", b="") == [("a>b", True)]
    assert links(a="", b="a") == [("b>a", True)]
    assert links(a="-b", b="-a") == [("a-b", False)]
    assert links(a="-b", b="a") == [("b>a", True)]
    assert links(a="-b", b="") == [("a>b", False)]
    assert links(a="b c", b="c", c="a x") == [("a>b", True), ("a-c", True), ("b>c", True)]


def test_labels(page, _programs):
    def labels(*nodes, lines=()):
        script = "return m.placeLabels(arguments[0], arguments[1], 200, 100, (text) => text.length * 8)"
        items = [{"text": text, "x": x, "y": y, "across": 4, "down": 4} for text, x, y in nodes]
        found = run(page, "labels.js", script, items, lines)
        return {label["text"]: (label["left"], label["middle"]) for label in found}
    alone = labels(("inn", 50, 50))["inn"]
    assert alone[0] > 54
    # At the right edge there is room to the left.
    assert labels(("inn", 195, 50))["inn"][0] + 24 < 191
    assert labels(("inn", 300, 50)) == {}
    # Edges are avoided: here those to the right and up.
    left, middle = labels(("inn", 50, 50), lines=[((50, 50), (200, 50)), ((50, 50), (90, 0))])["inn"]
    assert not (left + 24 > 54 and middle < 57), (left, middle)
    # The first of a crowd have names, which do not touch each other.
    crowd = labels(*[(f"n{i:02}", 100 + i % 10 * 3, 50 + i // 10 * 3) for i in range(100)])
    assert 0 < len(crowd) < 30 and "n00" in crowd, crowd
    for (ax, ay), (bx, by) in itertools.combinations(crowd.values(), 2):
        assert abs(ax - bx) >= 24 or abs(ay - by) >= 14, crowd


def test_obstacles_on_graphs(page, _programs):
    def covers(shape, x, y):
        return run(page, "obstacles.js", """
            const area = new m.WorldArea(arguments[0], null);
            return area.holds({ x: arguments[1], y: arguments[2] });""", shape, x, y)
    cell = {"cells": [{"x": 2, "y": 3}]}
    assert covers(cell, 2, 3) and covers(cell, 3, 4) and covers(cell, 2.5, 3.5)
    assert not covers(cell, 1.9, 3.5) and not covers(cell, 3.1, 3.5)
    rectangle = {"rectangles": [{"x": -4, "y": 0, "width": 3, "height": 2}]}
    assert covers(rectangle, -1, 2) and not covers(rectangle, -0.9, 1)
    disc = {"discs": [{"center": {"x": 5}, "radius": 2}]}
    assert covers(disc, 7, 0) and not covers(disc, 6.5, 1.5)
    polygon = {"polygons": [{"vertices": [{}, {"x": 4}, {"y": 4}]}]}
    assert covers(polygon, 1, 1) and covers(polygon, 2, 2) and not covers(polygon, 3, 3)
    line = {"lines": [{"start": {}, "end": {"x": 10}, "width": 2}]}
    assert covers(line, 5, 1) and not covers(line, 5, 1.1)


def test_obstacles_on_grids(page, _programs):
    def bounds(grid, shape):
        found = run(page, "obstacles.js", """
            return import("/lattice.js").then(({ latticeOf }) => {
              const model = { cells: [], lattice: latticeOf(arguments[0]) };
              return m.placeObstacles([{ id: "it", shape: arguments[1] }], model)[0].area.outline.bounds;
            });""", {"width": 20, "height": 10, **grid}, shape)
        return tuple(round(found[side], 3) for side in ("left", "top", "right", "bottom"))
    line = {"lines": [{"start": {"x": 5, "y": 4}, "end": {"x": 9, "y": 2}}]}
    assert bounds({}, line) == (5, 2, 10, 5)
    assert bounds({}, {"discs": [{"center": {"x": 4, "y": 4}, "radius": 1.4}]}) == (3, 3, 6, 6)
    assert bounds({}, {"rectangles": [{"x": 18, "y": 8, "width": 9, "height": 9}]}) == (18, 8, 20, 10)
    board = {"hexagons": {"layout": "HEX_LAYOUT_ODD_ROWS"}}
    side = 1 / math.sqrt(3)
    assert bounds(board, {"cells": [{}]}) == (-0.5, -round(side, 3), 0.5, round(side, 3))
    # Its second row is shifted.
    assert bounds(board, {"rectangles": [{"width": 2, "height": 2}]}) == (-0.5, -round(side, 3), 2, round(2.5 * side, 3))


def test_intervals(page, _programs):
    def seen(interval, parent):
        points = run(page, "mesh_painter.js", "return m.seenBefore(...arguments[0])", [interval, parent])
        return [(point["x"], point["y"], point["z"]) for point in points]
    def interval(left, right, root):
        return {name: dict(zip("xyz", point)) for name, point in [("left", left), ("right", right), ("root", root)]}
    first = interval((2, -2, 2), (2, 2, 4), (0, 0, 0))
    assert seen(first, None) == [(0, 0, 0), (2, 2, 4), (2, -2, 2)]
    # From the same root it is seen through a part of the one before; from another root, all the way.
    second = interval((4, 0, 5), (4, 2, 5), (0, 0, 0))
    assert seen(second, first) == [(2, 1, 3.5), (4, 2, 5), (4, 0, 5), (2, 0, 3)]
    turned = interval((4, 3, 5), (4, 4, 5), (2, 2, 4))
    assert seen(turned, first) == [(2, 2, 4), (4, 4, 5), (4, 3, 5)]
    way = run(page, "mesh_painter.js", "return m.wayOf(arguments[0])", [turned, first])
    assert [(point["x"], point["y"]) for point in way] == [(4, 3.5), (2, 2), (0, 0)]


def test_parts_by_heights(page, _programs):
    def parts(points, **heights):
        found = run(page, "mesh_painter.js", "return m.partByHeights(...arguments[0])",
                    [[dict(zip("xyz", point)) for point in points], heights])
        return [[[(point["x"], point["z"]) for point in line] for line in found[name]] for name in ("plain", "faint")]
    ramp = [(0, 0, 0), (4, 0, 0), (8, 0, 4), (9, 0, 4)]
    assert parts(ramp) == [[[(0, 0), (4, 0), (8, 4), (9, 4)]], []]
    assert parts(ramp, high=1) == [[[(0, 0), (4, 0), (5, 1)]], [[(5, 1), (8, 4), (9, 4)]]]
    assert parts(ramp, low=1, high=3) == [[[(5, 1), (7, 3)]], [[(0, 0), (4, 0), (5, 1)], [(7, 3), (8, 4), (9, 4)]]]
    assert parts(ramp, low=4) == [[[(8, 4), (9, 4)]], [[(0, 0), (4, 0), (8, 4)]]]


def test_sizes(page, _programs):
    def size(info):
        return run(page, "words.js", "return m.sizeText(arguments[0])", info)
    assert size({"mesh": {"polygons": 1}}) == "1 polygon"
    assert size({"mesh": {"polygons": 1200}}) == "1,200 polygons"
    assert size({"graph": {"nodes": "1"}}) == "1 node, 0 edges"
    assert size({"grid": {"width": 3, "height": 2}}) == "3 × 2, 8 neighbours"
    four = {"connectivity": "CONNECTIVITY_FOUR"}
    assert size({"grid": {"width": 3, "height": 2, "squares": four}}) == "3 × 2, 4 neighbours"


TESTS = [test_layout, test_layout_is_for_graphs_without_places, test_links, test_labels, test_obstacles_on_graphs,
         test_obstacles_on_grids, test_intervals, test_parts_by_heights, test_sizes]
