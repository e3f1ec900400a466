#!/usr/bin/env python3
"""The server's page as people use it: in a headless Chromium.

inspect_test.py BIN: BIN is the folder of the programs. Pictures go to $WAYSTAR_SCREENSHOTS, or below BIN.
"""

import ast
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import urllib.request

import inspect_edits
import inspect_live
import inspect_modules
import inspect_questions
import webdriver
from programs import Programs, wait_for

LEFT, UP, RIGHT, DOWN = "\ue012", "\ue013", "\ue014", "\ue015"
ESCAPE, ENTER, SPACE = "\ue00c", "\ue007", " "


class Page:
    """The page in a browser."""

    def __init__(self, browser, address):
        self.browser = browser
        self.address = address
        browser.open(address)
        self.wait_for_maps()

    @classmethod
    def of(cls, browser, address):
        """The page that is open in the browser."""
        page = cls.__new__(cls)
        page.browser = browser
        page.address = address
        page.wait_for_maps()
        return page

    def wait_for_maps(self):
        browser = self.browser
        wait_for(lambda: browser.run("return document.querySelectorAll('#map-list button').length >= 6"),
                 "the list of maps")

    def choose(self, name, width=0, height=0):
        self.browser.click(f"#map-list [data-map='{name}']")
        self.size = (width, height)
        self.browser.wait_for_text("#cell", f"~{name}")

    def place(self, x, y):
        """Where a cell of a map of squares lies, while all of the map is shown."""
        box = self.browser.run("const r = document.getElementById('map').getBoundingClientRect();"
                               "return [r.left, r.top, r.width, r.height]")
        scale = min((box[2] - 40) / self.size[0], (box[3] - 40) / self.size[1], 96)
        return (box[0] + box[2] / 2 + (x + 0.5 - self.size[0] / 2) * scale,
                box[1] + box[3] / 2 + (y + 0.5 - self.size[1] / 2) * scale)

    def press(self, x, y, kind="mouse"):
        self.browser.point([self.place(x, y), "down", "up"], kind)

    def drag(self, *cells, kind="mouse", button=0):
        places = [self.place(*cell) for cell in cells]
        self.browser.point([places[0], "down", *places[1:], "up"], kind, button)

    def read_nodes(self, graph):
        """Where the nodes of a graph lie, by id, while all of it is shown."""
        bounds, nodes = self.browser.run("""
            return import('/graph_model.js').then(async ({ GraphModel }) => {
              const model = new GraphModel();
              model.load(await model.read(arguments[0]));
              const places = model.nodes.map((node) => [node.id, model.lattice.center(node.x, node.y)]);
              return [model.lattice.bounds, places];
            });""", graph)
        left, top = bounds["left"], bounds["top"]
        self.size = (bounds["right"] - left, bounds["bottom"] - top)
        return {name: self.place(x - left - 0.5, y - top - 0.5) for name, (x, y) in nodes}

    def press_node(self, place):
        self.browser.point([place, "down", "up"])

    def color_at(self, x, y, canvas="map"):
        """Of the map, as red, green and blue."""
        return self.browser.run("""
            const canvas = document.getElementById(arguments[2]);
            const { left, top, width } = canvas.getBoundingClientRect();
            const scale = canvas.width / width;
            const at = [(arguments[0] - left) * scale, (arguments[1] - top) * scale].map(Math.round);
            return [...canvas.getContext('2d').getImageData(...at, 1, 1).data].slice(0, 3);""", x, y, canvas)

    def ink(self, name):
        """A colour of the page's style, as red, green and blue."""
        color = self.browser.run("return import('/theme.js').then((m) => m.colorOf(arguments[0]))", name)
        return [int(part) for part in re.findall(r"\d+", color)]

    def wait_for_color(self, place, color):
        wait_for(lambda: self.color_at(*place) == color, lambda: f"{self.color_at(*place)} is not {color}")

    def point_at(self, x, y):
        self.browser.point([self.place(x, y)])
        self.browser.wait_for_text("#cell", f"~cell {x}, {y} ")

    def shows(self, selector, text):
        self.browser.wait_for_text(selector, text)

    def set(self, element, event, value):
        """As a person would, by the script `value`."""
        self.browser.run(f"const element = document.getElementById(arguments[0]); element.value = {value};"
                         "element.dispatchEvent(new Event(arguments[1]));", element, event)

    def choose_option(self, element, value):
        self.set(element, "change", json.dumps(value))

    def beside(self, place):
        """Where a place of the map lies on the one beside it."""
        dx, dy = self.browser.run("const [a, b] = ['map', 'map-beside'].map((id) => document.getElementById(id)"
                                  ".getBoundingClientRect()); return [b.left - a.left, b.top - a.top]")
        return place[0] + dx, place[1] + dy

    def figures(self, suffix=""):
        """The algorithm of a search, and what it has expanded, generated and found."""
        names = ("name", "expanded", "generated", "cost")
        return [self.browser.text(f"#figures{suffix} [data-figure={name}]") for name in names]

    def shows_figures(self, first, second):
        """`None` stands for any text."""
        def are_there():
            pairs = zip(first + second, self.figures() + self.figures("-beside"))
            return all(expected in (None, text) for expected, text in pairs)
        wait_for(are_there, lambda: f"{self.figures()} and {self.figures('-beside')}, not {first} and {second}")

    def revision(self):
        return int(self.browser.text("#revision"))


def test_path(page, programs):
    page.choose("ten-by-ten", 10, 10)
    page.shows("#sentence", "Press two cells: the start, then the goal.")
    page.press(0, 0)
    page.shows("#start", "0, 0")
    page.press(7, 7)
    page.shows("#goal", "7, 7")
    page.shows("#cost", programs.cost("ten-by-ten", "0,0", "7,7"))
    page.shows("#outcome", "found")
    page.shows("#steps", "14")
    page.shows("#algorithm", "jump point search")
    assert page.browser.run("return location.hash") == "#map=ten-by-ten&start=0,0&goal=7,7"
    page.point_at(2, 0)
    page.shows("#cell", "~blocked")
    page.point_at(3, 0)
    page.shows("#cell", "~free")


def test_drag(page, programs):
    page.drag((7, 7), (8, 8), (9, 9))
    page.shows("#goal", "9, 9")
    page.shows("#cost", programs.cost("ten-by-ten", "0,0", "9,9"))
    page.drag((0, 0), (0, 3), (0, 9))
    page.shows("#start", "0, 9")
    page.shows("#cost", "9")


def test_paint(page, programs):
    before = page.revision()
    page.browser.click("[data-tool=wall]")
    page.drag((5, 9), (5, 3))
    wait_for(lambda: page.revision() > before, "the revision of the painted wall")
    page.shows("#cost", "23")
    assert programs.cost("ten-by-ten", "0,9", "9,9") == "23"
    page.point_at(5, 8)
    page.shows("#cell", "~blocked")
    page.browser.click("#undo")
    page.shows("#cost", "9")
    assert programs.cost("ten-by-ten", "0,9", "9,9") == "9"
    # What was there before the stroke is there again.
    page.point_at(2, 4)
    page.shows("#cell", "~blocked")
    page.browser.click("[data-tool=lift]")
    page.press(2, 4)
    page.point_at(2, 4)
    page.shows("#cell", "~free")
    page.browser.keys("z")
    page.point_at(2, 4)
    page.shows("#cell", "~blocked")
    page.browser.click("[data-tool=path]")


def test_edits_of_others(page, programs):
    programs.run("block", "ten-by-ten", "5,3..5,9")
    page.shows("#cost", "23")
    page.point_at(5, 6)
    page.shows("#cell", "~blocked")
    programs.run("unblock", "ten-by-ten", "5,3..5,9")
    page.shows("#cost", "9")
    page.point_at(5, 6)
    page.shows("#cell", "~free")
    programs.run("obstacle", "put", "ten-by-ten", "cart", "6,8..7,9")
    page.point_at(6, 8)
    page.shows("#cell", "~under cart")
    assert "wall" not in page.browser.text("#cell")
    programs.run("obstacle", "remove", "ten-by-ten", "cart")
    page.point_at(6, 8)
    page.shows("#cell", "~free")


def test_terrain(page, programs):
    page.choose("river", 26, 12)
    page.press(0, 0)
    page.press(25, 0)
    page.shows("#cost", programs.cost("river", "0,0", "25,0"))
    for text in ("river, cost 3", "trees, impassable", "wall", "start", "goal", "path"):
        page.shows("#legend", f"~{text}")
    # The legend has no sign for things that are not on the map.
    assert "by cost" not in page.browser.text("#legend")
    page.browser.click("[data-tool=terrain]")
    page.set("terrain", "change", "[...element.options].find((each) => each.text === 'river').value")
    page.drag((8, 5), (8, 8))
    page.point_at(8, 6)
    page.shows("#cell", "~terrain river")
    wait_for(lambda: page.revision() > 1, "the painted terrain")
    page.shows("#cost", programs.cost("river", "0,0", "25,0"))
    page.browser.click("#undo")
    page.point_at(8, 6)
    page.shows("#cell", "~terrain road")
    page.browser.click("[data-tool=path]")


def test_obstacles_and_portals(page, programs):
    page.browser.run("location.hash = 'map=river'")
    page.shows("#start", "–")
    assert "obstacle" not in page.browser.text("#legend") and "portal" not in page.browser.text("#legend")
    # The outline goes around the cells that it covers.
    programs.run("obstacle", "put", "river", "log", "6,0..8,1", "--factor", "3")
    page.shows("#legend", "~costs more")
    programs.run("portal", "put", "river", "ferry", "1,1", "20,9", "--cost", "2")
    page.shows("#legend", "~portal")
    portal = page.ink("portal")
    page.wait_for_color(page.place(1, 1), portal)
    page.wait_for_color(page.place(20, 9), portal)
    plain = page.color_at(*page.place(10, 0.2))
    assert page.color_at(*page.place(8.3, 1.3)) != plain == page.color_at(*page.place(8.7, 1.3))
    page.point_at(8, 1)
    page.shows("#cell", "~under log")
    page.browser.run("location.hash = 'map=river&start=0,1&goal=21,9'")
    page.shows("#cost", programs.cost("river", "0,1", "21,9"))
    page.shows("#steps", "3")
    programs.run("portal", "remove", "river", "ferry")
    programs.run("obstacle", "remove", "river", "log")
    page.shows("#cost", programs.cost("river", "0,1", "21,9"))
    wait_for(lambda: "portal" not in page.browser.text("#legend"), "the legend without portals")


def test_options(page, programs):
    def choose(name, value):
        page.choose_option(f"option-{name}", value)
    page.choose("dungeon", 48, 26)
    page.press(2, 2)
    page.press(43, 17)
    cost = programs.cost("dungeon", "2,2", "43,17")
    page.shows("#cost", cost)
    choose("algorithm", "ALGORITHM_DIJKSTRA")
    page.shows("#algorithm", "Dijkstra")
    page.shows("#cost", cost)
    choose("form", "PATH_FORM_SMOOTHED")
    page.shows("#cost", programs.cost("dungeon", "2,2", "43,17", "--form", "smoothed", "--algorithm", "dijkstra"))
    choose("form", "PATH_FORM_CORNERS")
    choose("footprint", "2")
    page.shows("#outcome", "partial")
    choose("policy", "UNREACHABLE_POLICY_REPORT")
    page.shows("#outcome", "unreachable")
    choose("footprint", "1")
    choose("algorithm", "ALGORITHM_ASTAR")
    page.shows("#algorithm", "A*")
    page.shows("#cost", cost)


def test_copy_as(page, programs):
    def copied(form):
        page.browser.run("document.getElementById('copied-text').value = ''")
        page.browser.click(f"#copy-{form}")
        page.shows("#copied", "~Copied.")
        assert page.browser.run("return document.activeElement.id") == f"copy-{form}"
        return page.browser.run("return document.getElementById('copied-text').value")
    def check(name, start, goal, *options):
        cost = programs.cost(name, start, goal, *options)
        page.shows("#cost", cost)
        words = shlex.split(copied("command"))
        server = words.index("--server")
        assert words[:2] == ["waystar", "find"] and words[server + 1].endswith(":7450"), words
        assert programs.cost(*words[2:server], *words[server + 2:]) == cost, words
        words = shlex.split(copied("json"))
        request = urllib.request.Request(words[2], words[words.index("-d") + 1].encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert round(json.load(answer)["cost"], 4) == float(cost), words
        text = copied("python")
        ast.parse(text)
        return text
    page.choose("dungeon", 48, 26)
    page.browser.click("#clear")
    page.browser.click("#copy-json")
    page.shows("#copied", "Set a start and a goal first.")
    page.browser.run("location.hash = '#map=dungeon&start=2,2&goal=7,4'")
    page.choose_option("option-policy", "UNREACHABLE_POLICY_NEAREST_BY_DISTANCE")
    page.choose_option("option-footprint", "2")
    page.choose_option("option-algorithm", "ALGORITHM_ASTAR")
    page.choose_option("option-form", "PATH_FORM_SMOOTHED")
    text = check("dungeon", "2,2", "7,4", "--footprint", "2", "--algorithm", "astar", "--form", "smoothed")
    assert text.split("\n", 3)[3] == """\
    answer = client.map("dungeon").find_path(
        (2, 2),
        (7, 4),
        algorithm="ALGORITHM_ASTAR",
        unreachable_policy="UNREACHABLE_POLICY_NEAREST_BY_DISTANCE",
        path_form="PATH_FORM_SMOOTHED",
        agent={"footprint": 2},
    )
    print(answer)
""", text
    page.choose_option("option-footprint", "1")
    page.choose_option("option-algorithm", "ALGORITHM_AUTO")
    page.choose_option("option-form", "PATH_FORM_CORNERS")
    page.browser.run("location.hash = '#map=keep&start=2,2,0&goal=2,3,4'")
    page.shows("#goal", "2, 3, 4")
    assert "(2, 3, 4)," in check("keep", "2,2,0", "2,3,4")
    create_graph(page, programs, "crossing", {
        "nodes": [{"id": name, "position": {"x": x}} for x, name in enumerate(["inn:1", "mill"])],
        "edges": [{"edge": {"from": "inn:1", "to": "mill"}}]})
    page.browser.run("location.hash = '#map=crossing&start=inn:1&goal=mill'")
    page.shows("#goal", "mill")
    assert '"inn:1",' in check("crossing", "inn:1", "mill")
    programs.run("map", "delete", "crossing")
    page.choose("dungeon", 48, 26)
    page.browser.run("location.hash = '#map=dungeon&start=2,2&goal=43,17'")
    page.choose_option("option-algorithm", "ALGORITHM_ASTAR")
    page.shows("#algorithm", "A*")


def test_player(page, _programs):
    page.browser.click("#step-forward")
    page.shows("#moment-text", "~1 of ")
    total = page.browser.text("#moment-text").split(":")[0].split()[-1]
    # Slow enough to be seen at play by a machine that is slow itself.
    page.choose_option("speed", "0.25")
    page.browser.click("#play")
    page.shows("#play-label", "Pause")
    page.choose_option("speed", "5")
    page.shows("#moment-text", f"~{total} of {total}:")
    page.shows("#play-label", "Play")
    expanded = page.browser.text("#expanded")
    page.shows("#moment-text", f"~ {expanded} expanded")
    page.browser.click("#step-back")
    page.shows("#moment-text", f"~{int(total.replace(',', '')) - 1:,} of {total}:")
    page.browser.run("document.getElementById('map').focus()")
    page.browser.keys(".")
    page.shows("#moment-text", f"~{total} of {total}:")
    page.set("moment", "input", "0")
    page.shows("#moment-text", f"0 of {total}: 0 expanded")


def test_keyboard(page, programs):
    page.choose("ten-by-ten", 10, 10)
    browser = page.browser
    browser.run("document.getElementById('map').focus()")
    browser.point([(1, 1)])
    # The first arrow shows the cursor; then to the corner.
    browser.keys(RIGHT + LEFT * 9 + UP * 9)
    page.shows("#cell", "~cell 0, 0 ")
    page.shows("#announce", "~cell 0, 0")
    browser.keys("s" + RIGHT * 5 + DOWN * 3 + "g")
    page.shows("#goal", "5, 3")
    page.shows("#cost", programs.cost("ten-by-ten", "0,0", "5,3"))
    browser.keys(UP + "b")
    page.shows("#cell", "~blocked")
    browser.keys("u")
    page.shows("#cell", "~free")
    browser.keys("w")
    assert browser.run("return document.querySelector('[data-tool]:checked').dataset.tool") == "wall"
    browser.keys("p?")
    assert browser.run("return document.getElementById('help').open")
    browser.keys(ESCAPE)
    wait_for(lambda: not browser.run("return document.getElementById('help').open"), "the help to close")
    browser.run("document.getElementById('map').focus()")
    browser.keys(SPACE)
    page.shows("#moment-text", "~ expanded")
    browser.keys(ESCAPE)
    page.shows("#cost", "–")


def test_zoom(page, _programs):
    browser = page.browser
    middle = page.place(4.5, 4.5)
    browser.keys("+++")
    # The corner of the map has left the canvas.
    browser.point([page.place(0, 0)])
    wait_for(lambda: "cell" in browser.text("#cell") and "cell 0, 0 " not in browser.text("#cell"), "the zoom")
    browser.point([middle, "down", (middle[0] + 60, middle[1]), "up"])
    browser.keys("0")
    page.point_at(0, 0)
    page.point_at(9, 9)


def test_hexagons(page, programs):
    page.choose("hex-isle")
    browser = page.browser
    browser.run("location.hash = ''")
    browser.run("document.getElementById('map').focus()")
    browser.point([(1, 1)])
    browser.keys(RIGHT + LEFT * 16 + UP * 11)
    page.shows("#cell", "~cell 0, 0 ")
    browser.keys(RIGHT * 3 + DOWN * 3 + "s" + RIGHT * 9 + DOWN * 4 + "g")
    page.shows("#start", "3, 3")
    page.shows("#goal", "12, 7")
    page.shows("#cost", programs.cost("hex-isle", "3,3", "12,7"))
    # A link leads to the same place again.
    link = browser.run("return location.hash")
    browser.run("location.hash = '#map=keep&start=2,2,0&goal=2,3,4'")
    page.shows("#start", "2, 2, 0")
    page.shows("#legend", "~highest, at 4")
    browser.run("location.hash = arguments[0]", link)
    page.shows("#start", "3, 3")
    page.shows("#goal", "12, 7")
    page.shows("#cost", programs.cost("hex-isle", "3,3", "12,7"))
    assert browser.run("return location.hash") == link
    page.shows("#legend", "~hills, cost 2")


def test_missing_map(page, programs):
    browser = page.browser
    chosen = "return document.querySelector('#map-list [aria-current=true]') === null"
    link = "#map=cellar&start=1,1&goal=6,4"
    browser.open("about:blank")
    browser.open(f"{page.address}{link}")
    page.shows("#empty", "There is no map cellar on this server. Choose a map from the list.")
    assert browser.run(chosen) and browser.run("return location.hash") == link
    # The link means what it says once there is such a map.
    programs.run("map", "create", "cellar", "8x6")
    page.shows("#cost", programs.cost("cellar", "1,1", "6,4"))
    page.shows("#empty", "")
    page.size = (8, 6)
    page.point_at(7, 5)
    page.shows("#cell", "~free")
    programs.run("map", "delete", "cellar")
    page.shows("#empty", "The map cellar was deleted. Choose a map from the list.")
    page.shows("#cost", "–")
    wait_for(lambda: browser.run(chosen), "the list without the map")
    assert browser.text("#legend") == "" and browser.run("return location.hash") == link
    page.choose("dungeon", 48, 26)
    page.shows("#empty", "")


def test_skip_link(page, _programs):
    browser = page.browser
    browser.run("location.hash = '#map=ten-by-ten&start=0,0&goal=7,7'")
    page.shows("#cost", "14")
    browser.run("document.getElementById('skip').focus()")
    browser.keys(ENTER)
    assert browser.run("return document.activeElement.id") == "map"
    assert browser.run("return location.hash") == "#map=ten-by-ten&start=0,0&goal=7,7"
    page.shows("#cost", "14")


def shows_in_list(page, names):
    script = "return [...document.querySelectorAll('#map-list button')].map((each) => each.dataset.map)"
    wait_for(lambda: page.browser.run(script) == names, lambda: f"{page.browser.run(script)}, not {names}")


def chosen_is_in_view(page):
    return page.browser.run("""
        const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
        const box = (selector) => document.querySelector(selector)?.getBoundingClientRect();
        const button = box('#map-list [aria-current=true]');
        return Boolean(button) && inside(button, box('nav')) && button.right <= innerWidth && button.bottom <= innerHeight;""")


def test_many_maps(page, programs):
    browser = page.browser
    added = [f"vault{i}" for i in (10, 2, 1, 21, 3)]
    for name in added:
        programs.run("map", "create", name, "4x4")
    wait_for(lambda: browser.run("return !document.getElementById('map-filter').hidden"), "the filter")
    browser.run("location.hash = '#map=vault21'")
    page.shows("#cell", "~vault21")
    wait_for(lambda: chosen_is_in_view(page), "the chosen map in view")
    browser.click("#map-filter")
    browser.keys("AULT")
    shows_in_list(page, ["vault1", "vault2", "vault3", "vault10", "vault21"])
    browser.keys("x")
    page.shows("#no-map", 'No map has a name with "aultx".')
    shows_in_list(page, [])
    page.set("map-filter", "input", "''")
    page.shows("#no-map", "")
    wait_for(lambda: chosen_is_in_view(page), "the chosen map in view without the filter")
    for name in added:
        programs.run("map", "delete", name)
    page.choose("dungeon", 48, 26)


def create_graph(page, programs, name, graph):
    file = programs.work / f"{name}.json"
    file.write_text(json.dumps(graph))
    programs.run("map", "create", name, "--graph", str(file))
    wait_for(lambda: page.browser.run("return document.querySelector(arguments[0]) !== null", f"[data-map={name}]"),
             "the new map")


def between(a, b, share=0.5):
    return tuple(p + (q - p) * share for p, q in zip(a, b))


def test_waypoint_graph(page, programs):
    islands = pathlib.Path(__file__).with_name("islands.json").read_text()
    create_graph(page, programs, "isles", json.loads(islands))
    page.choose("isles")
    page.browser.run("document.getElementById('map').focus()")
    page.browser.point([(1, 1)])
    # From whichever node is nearest to the middle, to the outer ones.
    page.browser.keys(LEFT * 3 + UP * 3 + LEFT * 3 + "s" + RIGHT * 3 + "g")
    page.shows("#start", "harbour")
    page.shows("#goal", "lighthouse")
    page.shows("#cost", programs.cost("isles", "harbour", "lighthouse"))
    page.shows("#steps", "2")
    assert page.browser.run("return location.hash") == "#map=isles&start=harbour&goal=lighthouse"
    programs.run("obstacle", "put", "isles", "tide", "6,0")
    page.shows("#cost", programs.cost("isles", "harbour", "lighthouse"))
    page.shows("#cost", "20")
    # It lies on the ford, from there on to the right and down.
    nodes = page.read_nodes("isles")
    page.browser.point([nodes["ford"]])
    page.shows("#cell", "~node ford")
    page.shows("#cell", "~under tide")
    unit = (nodes["ford"][0] - nodes["harbour"][0]) / 6
    x, y = nodes["ford"]
    outside = page.ink("outside")
    page.wait_for_color((x - unit * 0.6, y + unit * 0.9), outside)
    wait_for(lambda: page.color_at(x + unit * 0.6, y + unit * 0.9) != outside, "the picture of the obstacle")
    programs.run("obstacle", "remove", "isles", "tide")
    page.shows("#cost", "12")
    page.wait_for_color((x + unit * 0.6, y + unit * 0.9), outside)


def test_search_on_graph(page, programs):
    # A street of which the last part leads one way, and an alley.
    create_graph(page, programs, "street", {
        "nodes": [{"id": name, "position": {"x": x, "y": y}}
                  for name, x, y in [("a", 0, 0), ("b", 10, 0), ("c", 20, 0), ("d", 30, 0), ("alley", 10, 15)]],
        "edges": [{"edge": {"from": "a", "to": "b"}}, {"edge": {"from": "b", "to": "c"}},
                  {"edge": {"from": "c", "to": "d", "oneWay": True}}, {"edge": {"from": "b", "to": "alley"}}]})
    page.choose("street")
    nodes = page.read_nodes("street")
    page.press_node(nodes["a"])
    page.shows("#start", "a")
    # Near a node is good enough.
    page.press_node((nodes["d"][0] + 12, nodes["d"][1] + 9))
    page.shows("#goal", "d")
    page.shows("#cost", "30")
    open_options = page.browser.run("return [...document.querySelectorAll('#option-algorithm option:enabled')]"
                                    ".map((option) => option.value)")
    assert open_options == ["ALGORITHM_AUTO", "ALGORITHM_ASTAR", "ALGORITHM_DIJKSTRA"], open_options
    page.choose_option("option-algorithm", "ALGORITHM_DIJKSTRA")
    page.shows("#algorithm", "Dijkstra")
    page.browser.point([(640, 20)])
    page.shows("#legend", "~one-way edge")
    street = between(nodes["a"], nodes["b"])
    alley = between(nodes["b"], nodes["alley"])
    route, rim, wall, outside = (page.ink(name) for name in ("path", "open-rim", "wall", "outside"))
    page.wait_for_color(street, route)
    # What a node is filled with, beside the lines that meet in it.
    page.wait_for_color(nodes["b"], wall)

    page.browser.click("#step-forward")
    page.shows("#moment-text", "~1 of ")
    # The path waits for the end of the search.
    wait_for(lambda: page.color_at(*street) not in (route, rim), "the path to go")
    page.wait_for_color(nodes["b"], wall)
    page.browser.click("#step-forward")
    page.browser.click("#step-forward")
    page.shows("#moment-text", "~3 of ")
    page.shows("#moment-text", "~: 1 expanded, cost so far 10")
    page.wait_for_color(nodes["b"], outside)
    page.set("moment", "input", "element.max")
    page.shows("#moment-text", f"~: {page.browser.text('#expanded')} expanded")
    page.wait_for_color(street, route)
    # The search came along there, in its last step perhaps.
    wait_for(lambda: page.color_at(*alley) in (rim, page.ink("trail")), "the way into the alley")
    # The dearer, the redder.
    middle, far = page.color_at(*nodes["b"]), page.color_at(*nodes["alley"])
    assert middle[0] > middle[2] + 60 and far[0] > far[2] + 60 and middle[1] > far[1] + 60, (middle, far)
    page.set("moment", "input", "0")
    page.shows("#moment-text", "~: 0 expanded")
    page.wait_for_color(nodes["alley"], wall)
    page.browser.click("#play")
    page.wait_for_color(street, route)
    # There is no way back.
    page.browser.run("location.hash = '#map=street&start=d&goal=a'")
    page.shows("#start", "d")
    page.choose_option("option-policy", "UNREACHABLE_POLICY_REPORT")
    page.shows("#outcome", "unreachable")
    page.choose_option("option-policy", "UNREACHABLE_POLICY_NEAREST_BY_DISTANCE")
    page.choose_option("option-algorithm", "ALGORITHM_AUTO")


def test_graph_without_places(page, programs):
    create_graph(page, programs, "story", {
        "nodes": [{"id": name} for name in ("inn", "wood", "lake", "cave", "mill")],
        "edges": [{"edge": {"from": a, "to": b}, "cost": 2}
                  for a, b in [("inn", "wood"), ("wood", "lake"), ("lake", "cave"), ("cave", "inn"),
                               ("lake", "mill")]]})
    page.choose("story")
    wait_for(lambda: not page.browser.run("return document.getElementById('places').hidden"), "what is said of places")
    nodes = page.read_nodes("story")
    assert nodes == page.read_nodes("story")
    for name, place in nodes.items():
        page.browser.point([place])
        page.shows("#cell", f"~node {name}  ·  at 0, 0")
    page.press_node(nodes["inn"])
    page.press_node(nodes["mill"])
    page.shows("#start", "inn")
    page.shows("#goal", "mill")
    page.shows("#cost", "6")
    page.wait_for_color(between(nodes["lake"], nodes["mill"], 0.4), page.ink("path"))
    page.choose("street")
    wait_for(lambda: page.browser.run("return document.getElementById('places').hidden"), "the end of it")


def place_on_mesh(page, x, y):
    """Where a place of the mesh keep lies, of which all is shown from above."""
    scale = 60 / 24
    page.size = (64, 16 * scale + 4)
    return page.place(x * scale + 2 - 0.5, y * scale + 2 - 0.5)


def test_mesh(page, programs):
    page.browser.run("location.hash = ''")
    page.choose("keep")
    paper = page.ink("outside")
    court, pillar = place_on_mesh(page, 2, 13), place_on_mesh(page, 6, 11)
    wait_for(lambda: page.color_at(*court) != paper, "the picture of the mesh")
    assert page.color_at(*pillar) == paper
    gallery = page.color_at(*place_on_mesh(page, 5, 1.5))
    assert gallery != page.color_at(*court)
    # The highest floor is taken, and the one that is shown.
    page.browser.point([place_on_mesh(page, 2, 2), "down", "up"])
    page.shows("#start", "~, 4")
    page.browser.keys(ESCAPE)
    page.choose_option("height-high", "1")
    wait_for(lambda: page.color_at(*place_on_mesh(page, 5, 1.5)) == page.color_at(*court), "the lower floor")
    page.browser.point([place_on_mesh(page, 2, 2), "down", "up"])
    # The place takes the height of the ground.
    page.shows("#start", "~, 0")
    page.choose_option("height-high", "")
    page.browser.run("location.hash = 'map=keep&start=2,2,0&goal=2,3,4'")
    page.shows("#start", "2, 2, 0")
    page.shows("#goal", "2, 3, 4")
    page.shows("#cost", programs.cost("keep", "2,2,0", "2,3,4"))
    page.shows("#steps", "5")
    path = page.ink("path")
    page.wait_for_color(place_on_mesh(page, 17, 10.5), path)
    # On the gallery, which is not shown, it is dashed, and one sees the court between.
    on_gallery = [place_on_mesh(page, x, 3 + (x - 2) / 18) for x in (8 + i / 8 for i in range(40))]
    assert all(page.color_at(*place) == path for place in on_gallery)
    page.choose_option("height-high", "1")
    wait_for(lambda: page.color_at(*court) in [page.color_at(*place) for place in on_gallery], "the court")
    assert page.color_at(*place_on_mesh(page, 17, 10.5)) == path
    assert path not in [page.color_at(*place) for place in on_gallery]
    full = page.color_at(*court)
    page.choose_option("height-high", "")
    # Lower floors are faint.
    page.choose_option("height-low", "3")
    wait_for(lambda: page.color_at(*court) not in (full, paper), "the faint court")
    assert sum(full) < sum(page.color_at(*court)) < sum(paper)
    page.choose_option("height-low", "")
    page.wait_for_color(place_on_mesh(page, 17, 10.5), path)
    # From the side the server draws the path, and a press does nothing.
    page.browser.click("#oblique")
    wait_for(lambda: page.color_at(*place_on_mesh(page, 17, 10.5)) != path, "the picture from the side")
    page.browser.point([place_on_mesh(page, 12, 8), "down", "up"])
    page.shows("#goal", "2, 3, 4")
    page.browser.click("#oblique")
    page.wait_for_color(place_on_mesh(page, 17, 10.5), path)
    page.browser.keys("+++")
    page.browser.keys("0")
    page.wait_for_color(place_on_mesh(page, 17, 10.5), path)


def test_search_on_mesh(page, _programs):
    seen, way, pillar = (place_on_mesh(page, x, y) for x, y in [(7, 1.2), (17, 10.5), (6, 11)])
    route = page.ink("path")
    page.wait_for_color(way, route)
    # The picture may still be on its way, and then there is paper.
    paper = page.ink("outside")
    wait_for(lambda: page.color_at(*seen) != paper, "the ground")
    ground = page.color_at(*seen)
    page.browser.click("#step-forward")
    page.shows("#moment-text", "~1 of ")
    total = page.browser.text("#moment-text").split(":")[0].split()[-1]
    # The path waits for the end.
    wait_for(lambda: page.color_at(*way) != route, "the mesh without the path")
    page.set("moment", "input", total.replace(",", ""))
    page.shows("#moment-text", f"~{total} of {total}:")
    page.wait_for_color(way, route)
    red, _, blue = page.color_at(*seen)
    assert page.color_at(*seen) != ground and red > blue + 40
    assert page.color_at(*pillar) == paper
    page.set("moment", "input", "0")
    page.shows("#moment-text", f"0 of {total}: 0 expanded")
    page.wait_for_color(seen, ground)
    # From the side too.
    page.browser.click("#oblique")
    page.set("moment", "input", total.replace(",", ""))
    page.shows("#moment-text", f"~{total} of {total}:")
    page.browser.click("#oblique")
    page.wait_for_color(way, route)


def test_two_searches(page, programs):
    browser = page.browser
    page.choose("dungeon", 48, 26)
    page.choose_option("option-beside", "ALGORITHM_DIJKSTRA")
    page.choose_option("option-algorithm", "ALGORITHM_ASTAR")
    # On either map.
    page.press(2, 2)
    browser.point([page.beside(page.place(45, 23)), "down", "up"])
    page.shows("#goal", "45, 23")
    cost = programs.cost("dungeon", "2,2", "45,23")
    page.shows("#algorithm", "A*")
    page.shows_figures(["A*", None, None, cost], ["Dijkstra", None, None, cost])
    ends = page.figures()[1:], page.figures("-beside")[1:]
    (few, _, _), (many, _, _) = ends
    assert few == browser.text("#expanded") and int(few) * 2 < int(many), ends
    page.shows("#moment-text", f"{many} of {many} expansions")
    # A screen reader hears the figures.
    page.shows("#announce", f"~{few}")
    page.shows("#announce", f"~{many}")
    # Both have expanded the same number, and each ends when its search does.
    page.set("moment", "input", "0")
    page.shows_figures(["A*", "0", "1", "–"], ["Dijkstra", "0", "1", "–"])
    browser.run("document.getElementById('map').focus()")
    browser.keys("...,")
    page.shows_figures(["A*", "2", None, "–"], ["Dijkstra", "2", None, "–"])
    page.set("moment", "input", few)
    page.shows_figures(["A*", *ends[0]], ["Dijkstra", few, None, "–"])
    door, route = page.place(10, 4), page.ink("path")
    page.wait_for_color(door, route)
    assert page.color_at(*page.beside(door), "map-beside") != route
    page.choose_option("speed", "5")
    browser.keys(SPACE)
    page.shows_figures(["A*", *ends[0]], ["Dijkstra", *ends[1]])
    wait_for(lambda: page.color_at(*page.beside(door), "map-beside") == route, "the path beside")
    # They follow the map.
    programs.run("block", "dungeon", "10,4")
    page.shows_figures(["A*", None, None, None], ["Dijkstra", None, None, programs.cost("dungeon", "2,2", "45,23")])
    assert page.figures("-beside")[3] == page.figures()[3] != cost
    programs.run("unblock", "dungeon", "10,4")
    page.shows_figures(["A*", *ends[0]], ["Dijkstra", *ends[1]])
    # An algorithm that does not suit the question says so.
    page.choose_option("option-corners", "CORNER_RULE_ALWAYS")
    page.choose_option("option-beside", "ALGORITHM_SUBGOAL_HIERARCHY")
    wait_for(lambda: "corner" in page.figures("-beside")[0].lower(), lambda: page.figures("-beside"))
    assert all("400" in line for line in browser.console_errors())
    page.choose_option("option-corners", "CORNER_RULE_NO_CORNER_CUTTING")
    page.choose_option("option-beside", "")
    assert browser.run("return location.hash") == "#map=dungeon&start=2,2&goal=45,23&algorithm=ALGORITHM_ASTAR"
    page.shows("#moment-text", "How the path was found, step by step.")


def test_link_to_two_searches(page, programs):
    """On every kind of map."""
    def opens(link, first, second):
        page.browser.open("about:blank")
        page.browser.open(f"{page.address}#{link}")
        page.shows_figures(first, second)
        assert page.browser.run("return location.hash") == f"#{link}"
    dijkstra = "algorithm=ALGORITHM_ASTAR&beside=ALGORITHM_DIJKSTRA"
    for ends in ("map=dungeon&start=2,2&goal=45,23", "map=hex-isle&start=3,3&goal=12,7",
                 "map=isles&start=harbour&goal=lighthouse"):
        map_name, start, goal = (field.split("=")[1] for field in ends.split("&"))
        cost = programs.cost(map_name, start, goal)
        opens(f"{ends}&{dijkstra}", ["A*", None, None, cost], ["Dijkstra", None, None, cost])
    choices = "return [...document.querySelectorAll('#option-beside option:enabled')].map((each) => each.value)"
    assert page.browser.run(choices) == ["", "ALGORITHM_ASTAR", "ALGORITHM_DIJKSTRA", "0.2", "1"]
    ends = "map=dungeon&start=2,2&goal=45,23"
    opens(f"{ends}&footprint=2&unreachablePolicy=UNREACHABLE_POLICY_REPORT&beside=1",
          ["jump point search", None, None, "–"], ["jump point search, tolerance 1", None, None, "–"])
    cost = programs.cost("keep", "2,2,0", "2,3,4")
    opens("map=keep&start=2%2C2%2C0&goal=2%2C3%2C4&beside=0.2",
          ["Polyanya", "20", "21", cost], ["Polyanya, tolerance 0.2", None, None, cost])
    page.set("moment", "input", "1")
    page.shows_figures(["Polyanya", "1", None, "–"], ["Polyanya, tolerance 0.2", "1", None, "–"])
    assert page.browser.run(choices) == ["", "0.2", "1"]
    # A link to one search leaves none beside it.
    page.browser.run("location.hash = '#map=dungeon&start=2,2&goal=45,23'")
    wait_for(lambda: page.browser.run("return document.getElementById('map-beside').offsetParent === null"), "one search")
    page.choose_option("option-policy", "UNREACHABLE_POLICY_NEAREST_BY_DISTANCE")


def test_why_there_is_no_path(page, programs):
    """On every kind of map."""
    def opens(link, blocker):
        page.browser.open("about:blank")
        page.browser.open(f"{page.address}#{link}")
        page.shows("#asked", "~Without this in the way, a path of cost ")
        page.shows("#asked", f"~ leads there:\n1. {blocker}")
    fair, route = page.ink("fair"), page.ink("path")
    village = "map=village&start=1,1&goal=25,14"
    programs.run("obstacle", "put", "village", "fence", "20,0..20,15")
    opens(village, "obstacle fence, at 20, 8")
    page.size = (28, 16)
    x, y = page.place(20, 8)
    page.wait_for_color((x - 6, y), fair)
    # Dashed.
    beyond = [(x + 20 + i, y) for i in range(40)]
    wait_for(lambda: 0 < [page.color_at(*place) for place in beyond].count(route) < 30, "the dashed path")
    page.shows("#legend", "~path through blockers")
    # A refused question too.
    page.choose_option("option-policy", "UNREACHABLE_POLICY_REPORT")
    page.shows("#outcome", "unreachable")
    page.shows("#asked", "~1. obstacle fence, at 20, 8")
    # The answer follows the map.
    programs.run("obstacle", "remove", "village", "fence")
    page.shows("#asked", "")
    # Asked although there is a path.
    page.choose_option("ask", "explain")
    page.shows("#asked", f"Nothing is in the way: a path costs {programs.cost('village', '1,1', '25,14')}.")
    assert page.browser.run("return location.hash").endswith("UNREACHABLE_POLICY_REPORT&ask=explain")
    opens("map=hex-isle&start=3,3&goal=15,7&ask=explain", "terrain sea, at 14, 7")
    programs.run("obstacle", "put", "isles", "tide", "6,0")
    programs.run("obstacle", "put", "isles", "flood", "6,8")
    opens("map=isles&start=harbour&goal=lighthouse", "obstacle tide, at harbour")
    for obstacle in ("tide", "flood"):
        programs.run("obstacle", "remove", "isles", obstacle)
    page.shows("#asked", "")
    programs.run("obstacle", "put", "keep", "fence", "20,7..23,8")
    opens("map=keep&start=2%2C2%2C0&goal=2%2C3%2C4", "obstacle fence, at 20, 9, 1.5")
    x, y = place_on_mesh(page, 20, 9)
    page.wait_for_color((x - 6, y), fair)
    programs.run("obstacle", "remove", "keep", "fence")
    page.shows("#asked", "")


def test_reach(page, programs):
    """On every kind of map."""
    browser = page.browser
    browser.run("location.hash = '#map=ten-by-ten&start=0,0'")
    page.shows("#start", "0, 0")
    page.choose_option("ask", "reach")
    page.shows("#asked", "~cells can be reached from the start, the farthest at a cost of ")
    page.set("budget", "change", "3")
    page.shows("#asked", "8 cells can be reached from the start, the farthest at a cost of 3.")
    page.shows("#legend", "~reached or expanded, by cost")
    assert browser.run("return location.hash") == "#map=ten-by-ten&start=0,0&ask=reach&budget=3"
    page.size = (10, 10)
    # The dearer, the redder; what is dearer than the budget has no colour.
    near, far, beyond = (page.place(*cell) for cell in [(0, 1), (0, 3), (0, 4)])
    wait_for(lambda: page.color_at(*near)[1] > page.color_at(*far)[1] + 60, "the bands of colour")
    page.wait_for_color(beyond, page.ink("ground"))
    page.set("budget", "change", "4")
    wait_for(lambda: page.color_at(*beyond) != page.ink("ground"), "a wider reach")
    page.set("budget", "change", "-1")
    page.shows("#asked", "~max_cost")
    assert all("400" in line for line in browser.console_errors())

    def opens(link, text):
        browser.open("about:blank")
        browser.open(f"{page.address}#{link}")
        page.shows("#asked", f"~{text}")
    opens("map=hex-isle&start=3,3&ask=reach&budget=1", "4 cells can be reached")
    opens("map=isles&start=harbour&ask=reach&budget=6", "2 nodes can be reached")
    nodes = page.read_nodes("isles")
    wall = page.ink("wall")
    x, y = nodes["ford"]
    wait_for(lambda: page.color_at(x, y + 4) != wall, "the colour of the ford")
    page.wait_for_color((nodes["bridge"][0], nodes["bridge"][1] + 4), wall)
    opens("map=keep&start=2%2C2%2C0&goal=2%2C3%2C4&ask=reach&budget=2", "3 polygons can be reached")
    x, y = place_on_mesh(page, 3, 2)
    wait_for(lambda: page.color_at(x, y)[0] > page.color_at(x, y)[2] + 100, "a polygon that is reached")
    page.choose_option("ask", "")
    page.shows("#asked", "")


def test_ray(page, programs):
    """On every kind of map."""
    def opens(link, text):
        page.browser.open("about:blank")
        page.browser.open(f"{page.address}#{link}&ask=ray")
        page.shows("#asked", text)
    page.browser.run("location.hash = '#map=dungeon&start=2,2&goal=2,4'")
    page.shows("#goal", "2, 4")
    page.choose_option("ask", "ray")
    page.shows("#asked", "Nothing blocks the straight line.")
    page.shows("#legend", "~straight line")
    assert page.browser.run("return location.hash") == "#map=dungeon&start=2,2&goal=2,4&ask=ray"
    opens("map=dungeon&start=2,2&goal=30,20", "Something blocks the straight line after 25% of it, at 9, 7.")
    page.size = (48, 26)
    x, y = page.place(9, 7)
    page.wait_for_color((x - 6, y), page.ink("fair"))
    trail = page.ink("trail")
    page.wait_for_color(between(page.place(2, 2), page.place(30, 20), 0.15), trail)
    # From there on it is dotted.
    beyond = [between(page.place(2, 2), page.place(30, 20), share / 100) for share in range(40, 60)]
    assert 0 < [page.color_at(*place) for place in beyond].count(trail) < 18
    opens("map=hex-isle&start=3,3&goal=4,3", "Nothing blocks the straight line.")
    programs.run("obstacle", "put", "isles", "tide", "6,0")
    opens("map=isles&start=harbour&goal=lighthouse", "Obstacle tide blocks the straight line after 50% of it, at 6, 0.")
    programs.run("obstacle", "remove", "isles", "tide")
    page.shows("#asked", "Nothing blocks the straight line.")
    opens("map=keep&start=2%2C2%2C0&goal=20%2C12%2C0", "A wall blocks the straight line after 67% of it, at 14, 8.67, 0.")
    opens("map=keep&start=2%2C2%2C0&goal=2%2C3%2C4", "The straight line arrives on another floor, at 2, 3, 0.")
    page.choose_option("ask", "")
    page.shows("#asked", "")


def test_large_map(page, programs):
    programs.run("map", "create", "large", "2048x2048")
    programs.run("block", "large", "1024,0..1024,2046")
    wait_for(lambda: page.browser.run("return document.querySelector('[data-map=large]') !== null"), "the new map")
    page.choose("large", 2048, 2048)
    page.browser.run("location.hash = ''")
    page.press(100, 100)
    page.press(1900, 200)
    page.shows("#outcome", "found")
    start, goal = (page.browser.text(end).replace(" ", "") for end in ("#start", "#goal"))
    page.shows("#cost", programs.cost("large", start, goal))
    programs.run("map", "delete", "large")
    wait_for(lambda: page.browser.run("return document.querySelector('[data-map=large]') === null"), "the end of the map")


def is_for_fingers(browser):
    assert browser.run("return document.scrollingElement.scrollWidth <= innerWidth"), "the page is too wide"
    small = browser.run("return [...document.querySelectorAll('button, .group label')].filter((b) => b.offsetParent)"
                        ".filter((b) => Math.min(b.offsetWidth, b.offsetHeight) < 44).map((b) => b.id)")
    assert small == [], f"too small for a finger: {small}"


def test_phone(page, programs):
    browser = page.browser
    page.choose("dungeon", 48, 26)
    page.press(2, 2, "touch")
    page.press(42, 17, "touch")
    page.shows("#outcome", "found")
    start, goal = (browser.text(end).replace(" ", "") for end in ("#start", "#goal"))
    page.shows("#cost", programs.cost("dungeon", start, goal))
    is_for_fingers(browser)
    box = page.place(24, 13)

    def finger(name, x, y):
        return {"type": "pointer", "id": name, "parameters": {"pointerType": "touch"}, "actions": [
            {"type": "pointerMove", "duration": 0, "x": round(box[0] + x), "y": round(box[1])},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "duration": 100, "x": round(box[0] + y), "y": round(box[1])},
            {"type": "pointerUp", "button": 0}]}
    browser.act(finger("thumb", -20, -80), finger("index", 20, 80))
    page.press(2, 2, "touch")
    # Pinched apart, what lies there now is another cell.
    wait_for(lambda: browser.text("#goal").replace(" ", "") not in (goal, "2,2"), "the pinch")


def test_two_searches_on_phone(page, _programs):
    browser = page.browser
    browser.open("about:blank")
    browser.open(f"{page.address}#map=dungeon&start=2,2&goal=45,23&algorithm=ALGORITHM_ASTAR&beside=ALGORITHM_DIJKSTRA")
    page.shows_figures(["A*", "243", None, None], ["Dijkstra", "934", None, None])
    is_for_fingers(browser)
    # Both maps, one below the other, and what plays them fit on the screen.
    boxes = browser.run("""
        return ['map', 'figures', 'map-beside', 'figures-beside', 'play', 'moment'].map((id) => {
          const { top, bottom } = document.getElementById(id).getBoundingClientRect();
          return [top, bottom];
        });""")
    assert all(above[1] <= below[0] for above, below in zip(boxes, boxes[1:])), boxes
    assert boxes[-1][1] - boxes[0][0] < 844, boxes


def test_dark(page, _programs):
    background = page.browser.run("return getComputedStyle(document.body).backgroundColor")
    channels = [int(part) for part in background[4:-1].split(",")]
    assert max(channels) < 60, f"not dark: {background}"
    page.choose("keep")
    ground = place_on_mesh(page, 2, 13)
    wait_for(lambda: page.color_at(*ground) != page.ink("outside"), "the picture of the mesh")
    assert max(page.color_at(*ground)) < 90, f"not dark: {page.color_at(*ground)}"
    assert max(page.color_at(*place_on_mesh(page, -1, 13))) < 60


def test_server_that_comes_back(page, programs):
    page.choose("dungeon", 48, 26)
    page.press(2, 2)
    page.press(43, 17)
    page.shows("#outcome", "found")
    assert page.browser.console_errors() == []
    programs.stop_server()
    page.shows("#banner", "The server does not answer. What you see may be out of date. Trying again …")
    page.shows("#outcome", "no answer")
    programs.start_server()
    page.shows("#banner", "The server answers again. What you see is up to date.")
    page.shows("#outcome", "found")
    # The browser tells of every call that failed meanwhile.
    strange = [line for line in page.browser.console_errors() if "Failed to load resource" not in line]
    assert strange == [], strange


def take_picture(page, path, map_name, ends, search):
    """Of a path, and of the search when it has come that far."""
    page.browser.open(f"{page.address}#map={map_name}&{ends}")
    page.shows("#outcome", "found")
    page.choose_option("option-algorithm", "ALGORITHM_ASTAR")
    page.shows("#algorithm", "A*")
    page.browser.click("#step-forward")
    page.shows("#moment-text", "~1 of ")
    page.set("moment", "input", f"{search} * element.max")
    page.browser.point([(640, 20)])
    page.browser.screenshot(path)


def test_token(driver, folder, work):
    """The page asks for a token once, asks again when it is wrong, and keeps it for the tab."""
    made = subprocess.run([pathlib.Path(folder) / "waystar", "token", "looker", "read:*"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.splitlines()
    token, line = made[1].strip(), made[3]
    tokens = pathlib.Path(work) / "tokens"
    tokens.write_text(line + "\n")
    programs = Programs(folder, work, f"--tokens_file={tokens}")
    browser = webdriver.Browser(driver, 1200, 760)
    try:
        def is_open():
            return browser.run("return document.getElementById('token').open")
        def enter(text):
            browser.click("#token-field")
            browser.keys(text)
            browser.click("#token-form button")
        browser.open(programs.address)
        wait_for(is_open, "the question for a token")
        assert browser.text("#token-problem") == ""
        browser.keys(ESCAPE)
        wait_for(is_open, "the question for a token after Escape")
        enter("guess")
        browser.wait_for_text("#token-problem", "~token")
        assert browser.text("#map-list") == ""
        enter(token)
        page = Page.of(browser, programs.address)
        assert not is_open()
        page.choose("ten-by-ten", 10, 10)
        page.press(0, 0)
        page.press(7, 7)
        page.shows("#cost", "14")
        # What the token does not grant is refused, and the map is shown as it is.
        browser.click("[data-tool=wall]")
        page.press(5, 5)
        page.shows("#banner", "~token")
        page.point_at(5, 5)
        page.shows("#cell", "~free")
        # It is kept for the tab.
        browser.open(programs.address)
        page.wait_for_maps()
        assert not is_open()
    finally:
        browser.close()
        programs.close()


def run_in(driver, programs, address, tests, picture=None, **options):
    browser = webdriver.Browser(driver, **options)
    try:
        page = Page(browser, address)
        for test in tests:
            print(test.__name__, flush=True)
            try:
                test(page, programs)
            except AssertionError:
                browser.screenshot(programs.folder / "inspect-failure.png")
                print(browser.console_errors())
                raise
        errors = browser.console_errors()
        assert errors == [], errors
        if picture:
            take_picture(page, **picture)
    finally:
        browser.close()


def main():
    missing = webdriver.missing_program()
    if missing:
        print(f"skipped: {missing} is not installed")
        return 77
    folder = sys.argv[1]
    pictures = pathlib.Path(os.environ.get("WAYSTAR_SCREENSHOTS") or pathlib.Path(folder) / "inspect-screenshots")
    pictures.mkdir(parents=True, exist_ok=True)
    driver = webdriver.Driver()
    with tempfile.TemporaryDirectory() as work:
        programs = Programs(folder, work)
        try:
            address = programs.address
            dungeon = {"map_name": "dungeon", "ends": "start=2,2&goal=43,17", "search": 1}
            river = {"map_name": "river", "ends": "start=0,0&goal=25,0", "search": 1}
            desktop = {"width": 1200, "height": 760}
            run_in(driver, programs, address, [], {"path": pictures / "light.png", **river}, **desktop)
            run_in(driver, programs, address, [test_dark], {"path": pictures / "dark.png", **dungeon}, dark=True, **desktop)
            run_in(driver, programs, address,
                   [test_path, test_drag, test_paint, test_edits_of_others, test_terrain, test_obstacles_and_portals,
                    test_options, test_copy_as, test_player,
                    test_keyboard, test_skip_link, test_zoom, test_missing_map, test_many_maps, test_hexagons, test_waypoint_graph, test_search_on_graph,
                    test_graph_without_places, test_mesh, test_search_on_mesh, test_two_searches, test_link_to_two_searches,
                    test_why_there_is_no_path, test_reach, test_ray, test_large_map,
                    *inspect_questions.TESTS, *inspect_live.TESTS, *inspect_modules.TESTS], **desktop)
            run_in(driver, programs, address, inspect_edits.TESTS, **desktop)
            run_in(driver, programs, address, [test_phone, test_many_maps, test_two_searches_on_phone, *inspect_questions.PHONE_TESTS], width=390, height=844, phone=True)
            run_in(driver, programs, address, [test_server_that_comes_back], **desktop)
        finally:
            programs.close()
        try:
            print(test_token.__name__, flush=True)
            test_token(driver, folder, work)
        finally:
            driver.close()
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
