"""Edits on the server's page, by clicks and keys: obstacles, portals, undo, and files."""

import json

import inspect_modules
from programs import wait_for

CONTROL, SHIFT, ENTER, DELETE = "\ue009", "\ue008", "\ue007", "\ue017"
RIGHT, DOWN = "\ue014", "\ue015"


def control(page, keys):
    """Presses the last of the keys while the others, and Control, are down."""
    held = [CONTROL, *keys[:-1]]
    actions = [{"type": "keyDown", "value": key} for key in [*held, keys[-1]]]
    actions += [{"type": "keyUp", "value": key} for key in [keys[-1], *reversed(held)]]
    page.browser.act({"type": "key", "id": "keyboard", "actions": actions})


def fill(page, **fields):
    """Fills fields of the form, and applies it."""
    for name, value in fields.items():
        page.browser.run("document.getElementById(arguments[0]).value = arguments[1]", f"edit-{name}", value)
    page.browser.click("#edit-apply")


def listed(programs, kind, name):
    """The obstacles or portals of a map."""
    return json.loads(programs.run(kind, "list", name, "--json"))[f"{kind}s"]


def named(programs, kind, name):
    """The same, each as a line of words."""
    return [" ".join([each["id"], *(words(each) if kind == "portal" else shapes(each["shape"]))]) for each in listed(programs, kind, name)]


def words(portal):
    ends = [place(portal.get(end) or portal[f"{end}Position"]) for end in ("from", "to")]
    return [ends[0], *filter(None, [portal["toMap"]]), ends[1]]


def place(at):
    return ",".join(f"{value:g}" for value in at.values())


def shapes(shape):
    yield from (place(cell) for cell in shape["cells"])
    for box in shape["rectangles"]:
        size = "" if (box["width"], box["height"]) == (1, 1) else f"+{box['width']}x{box['height']}"
        yield f"{box['x']},{box['y']}{size}"
    for kind in ("discs", "polygons", "lines"):
        yield from (f"{kind}: {json.dumps(each)}" for each in shape[kind])


def comes(programs, kind, name, *expected):
    wait_for(lambda: named(programs, kind, name) == list(expected), lambda: f"{named(programs, kind, name)}")


def test_obstacles_by_hand(page, programs):
    page.choose("twenty-by-fifty", 20, 50)
    page.browser.keys("o")
    page.shows("#edit-title", "Obstacles")
    page.drag((3, 3), (4, 4), (6, 5))
    comes(programs, "obstacle", "twenty-by-fifty", "obstacle 3,3+4x3")
    page.shows("#edit-choice", "newobstacle")
    # Moved by its middle, and resized by a handle.
    page.drag((4, 4), (6, 6), (9, 10))
    comes(programs, "obstacle", "twenty-by-fifty", "obstacle 8,9+4x3")
    wait_for(lambda: page.browser.run("return document.getElementById('undo').disabled") is False, "the step")
    page.point_at(11, 11)
    page.shows("#cell", "~under obstacle")
    page.drag((11, 11), (12, 13), (13, 15))
    comes(programs, "obstacle", "twenty-by-fifty", "obstacle 8,9+6x7")
    page.point_at(13, 15)
    page.shows("#cell", "~under obstacle")
    fill(page, id="crate", factor="3", lifetime="900")
    page.shows("#edit-choice", "newcrate")
    wait_for(lambda: [(each["id"], each["costFactor"], "lifetime" in each)
                      for each in listed(programs, "obstacle", "twenty-by-fifty")] == [("crate", 3, True)],
             "the new name, cost and lifetime")
    # An edit that is undone can be made again.
    control(page, "z")
    page.shows("#edit-choice", "newobstacle")
    comes(programs, "obstacle", "twenty-by-fifty", "obstacle 8,9+6x7")
    control(page, "z")
    control(page, "z")
    comes(programs, "obstacle", "twenty-by-fifty", "obstacle 3,3+4x3")
    control(page, SHIFT + "z")
    comes(programs, "obstacle", "twenty-by-fifty", "obstacle 8,9+4x3")
    page.shows("#edit-choice", "newobstacle")
    page.choose_option("edit-choice", "obstacle")
    page.browser.keys(DELETE)
    comes(programs, "obstacle", "twenty-by-fifty")
    page.browser.click("#undo")
    comes(programs, "obstacle", "twenty-by-fifty", "obstacle 8,9+4x3")
    # A change by others stays.
    programs.run("obstacle", "put", "twenty-by-fifty", "obstacle", "1,1", "--replace")
    page.browser.click("#undo")
    page.shows("#banner", "This has changed since, and stays as it is: obstacle.")
    comes(programs, "obstacle", "twenty-by-fifty", "obstacle 1,1")
    programs.run("obstacle", "remove", "twenty-by-fifty", "obstacle")


def test_obstacles_by_keys(page, programs):
    page.choose("ten-by-ten", 10, 10)
    page.browser.run("location.hash = 'map=ten-by-ten&start=1,1'")
    page.shows("#start", "1, 1")
    page.browser.run("document.getElementById('map').focus()")
    page.browser.keys("o" + RIGHT + ENTER + RIGHT + RIGHT + DOWN)
    page.shows("#cell", "~cell 3, 2")
    page.browser.keys(ENTER)
    comes(programs, "obstacle", "ten-by-ten", "obstacle 1,1+3x2")
    page.shows("#edit-choice", "newobstacle")
    page.browser.keys(DELETE)
    comes(programs, "obstacle", "ten-by-ten")
    page.browser.keys("p")


def test_painting_changed_by_others(page, programs):
    page.choose("tiles", 16, 10)
    page.browser.click("[data-tool=wall]")
    page.drag((0, 9), (3, 9))
    wait_for(lambda: page.revision() > 1, "the painted wall")
    programs.run("unblock", "tiles", "1,9")
    page.point_at(1, 9)
    page.shows("#cell", "~free")
    page.browser.click("#undo")
    page.shows("#banner", "This has changed since, and stays as it is: 1 cell.")
    page.point_at(3, 9)
    page.shows("#cell", "~free")
    page.browser.click("#redo")
    page.point_at(3, 9)
    page.shows("#cell", "~blocked")
    page.browser.click("#undo")
    page.browser.click("[data-tool=path]")


def test_handles(page, _programs):
    def moved(shape, handle, x, y):
        """The shape after one of its handles was dragged there."""
        return inspect_modules.run(page, "shapes.js", """
            const lattice = { center: (x, y) => [x, y] };
            return m.handlesOf(arguments[0], lattice)[arguments[1]].moved({ x: arguments[2], y: arguments[3] });""",
                                   shape, handle, x, y)
    box = {"rectangles": [{"x": 1, "width": 3, "height": 2}]}
    assert moved(box, 2, 5, 4) == {"rectangles": [{"x": 1, "y": 0, "width": 5, "height": 5}]}
    assert moved(box, 0, 4, 3) == {"rectangles": [{"x": 3, "y": 1, "width": 2, "height": 3}]}
    corners = [{}, {"x": 4}, {"x": 4, "y": 2}, {"y": 2}]
    polygon = {"polygons": [{"vertices": corners}]}
    # A box stays one; only the corner itself moves beside slanted sides.
    assert [tuple(each.values()) for each in moved(polygon, 2, 5, 6)["polygons"][0]["vertices"]] == \
        [(0, 0), (5, 0), (5, 6), (0, 6)]
    triangle = {"polygons": [{"vertices": [{"x": 1, "y": 1}, {"x": 4, "y": 2}, {"x": 2, "y": 5}]}]}
    assert moved(triangle, 1, 6, 3)["polygons"][0]["vertices"] == [{"x": 1, "y": 1}, {"x": 6, "y": 3}, {"x": 2, "y": 5}]
    assert moved({"discs": [{"center": {"x": 2}, "radius": 1}]}, 0, 5, 4)["discs"][0]["radius"] == 5
    line = {"lines": [{"start": {}, "end": {"x": 3}, "width": 1}]}
    assert moved(line, 1, 0, 7)["lines"] == [{"start": {}, "end": {"x": 0, "y": 7}, "width": 1}]


def middle(page):
    return page.browser.run("const { left, top, width, height } = document.getElementById('map').getBoundingClientRect();"
                            "return [left + width / 2, top + height / 2]")


def test_edits_on_hexagons(page, programs):
    page.choose("hex-isle")
    x, y = middle(page)
    page.browser.click("[data-tool=terrain]")
    page.set("terrain", "change", "[...element.options].find((each) => each.text === 'forest').value")
    page.browser.point([(x, y - 100), "down", (x + 50, y - 60), "up"])
    page.shows("#cell", "~terrain forest")
    wait_for(lambda: page.revision() > 1, "the painted terrain")
    page.browser.click("#undo")
    page.browser.click("[data-tool=obstacle]")
    page.browser.point([(x, y), "down", (x + 40, y + 30), "up"])
    wait_for(lambda: named(programs, "obstacle", "hex-isle"), "the obstacle")
    page.shows("#edit-choice", "newobstacle")
    before = named(programs, "obstacle", "hex-isle")
    page.browser.point([(x + 20, y + 15), "down", (x + 20, y - 20), (x + 20, y - 60), "up"])
    wait_for(lambda: named(programs, "obstacle", "hex-isle") != before, "the move")
    page.browser.click("#edit-remove")
    comes(programs, "obstacle", "hex-isle")


def test_edits_on_graph(page, programs):
    nodes = page.read_nodes("isles")
    page.choose("isles", *page.size)
    page.browser.click("[data-tool=obstacle]")
    assert page.browser.run("return document.querySelector('[data-tool=portal]').disabled")
    (ax, y), (bx, _) = nodes["ford"], nodes["lighthouse"]
    x = (ax + bx) / 2
    page.browser.point([(x - 30, y - 20), "down", (x, y), (x + 30, y + 20), "up"])
    page.shows("#cell", "~6 edges")
    page.shows("#edit-choice", "~obstacle")
    # Off the edge, and back.
    page.browser.point([(x, y), "down", (x, y + 30), (x, y + 60), "up"])
    page.shows("#cell", "~8 edges")
    control(page, "z")
    page.shows("#cell", "~6 edges")
    page.browser.click("#edit-remove")
    comes(programs, "obstacle", "isles", 'rock discs: {"center": {"x": 6, "y": 4}, "radius": 1}')


def test_edits_on_mesh(page, programs):
    page.choose("keep")
    page.browser.click("[data-tool=obstacle]")
    page.browser.click("[data-tool=portal]")
    x, y = middle(page)
    page.browser.point([(x, y + 100), "down", "up"])
    page.shows("#edit-text", "~Press the other end")
    page.browser.point([(x + 60, y + 100), "down", "up"])
    page.shows("#edit-choice", "newportal")
    fill(page, cost="2.5", tags="jump, narrow")
    wait_for(lambda: [(each["cost"], each["tags"]) for each in listed(programs, "portal", "keep")]
             == [(2.5, ["jump", "narrow"])], "the cost and the tags")
    page.browser.click("[data-tool=obstacle]")
    page.set("edit-shape", "change", "'disc'")
    page.browser.point([(x, y + 100), "down", (x + 10, y + 100), (x + 40, y + 100), "up"])
    wait_for(lambda: "discs:" in str(named(programs, "obstacle", "keep")), "the disc")
    page.set("edit-shape", "change", "'box'")
    page.shows("#edit-choice", "newobstacle")
    page.browser.click("#edit-remove")
    comes(programs, "obstacle", "keep")
    page.browser.click("[data-tool=portal]")
    page.choose_option("edit-choice", "portal")
    page.browser.click("#edit-remove")
    comes(programs, "portal", "keep")


def test_portals_by_hand(page, programs):
    page.choose("tiles", 16, 10)
    page.browser.keys("r")
    page.press(0, 0)
    page.shows("#edit-text", "~From 0, 0.")
    page.press(15, 9)
    comes(programs, "portal", "tiles", "portal 0,0 15,9")
    control(page, "z")
    page.shows("#edit-choice", "new")
    # Its other end on another map.
    page.press(0, 0)
    page.shows("#edit-text", "~From 0, 0.")
    page.choose("ten-by-ten", 10, 10)
    page.press(0, 0)
    page.shows("#edit-text", "~portal leads here from the map tiles.")
    comes(programs, "portal", "tiles", "portal 0,0 ten-by-ten 0,0")
    control(page, "z")
    comes(programs, "portal", "tiles")
    page.browser.keys("p")


def drop(page, name, content):
    """A file on the page, as bytes."""
    page.browser.run("""
        const data = new DataTransfer();
        data.items.add(new File([Uint8Array.from(arguments[1])], arguments[0]));
        for (const type of ["dragover", "drop"]) {
          document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
        }""", name, list(content))


def test_files(page, programs):
    page.choose("village", 28, 16)
    folder = programs.work / "downloads"
    page.browser.save_files_in(folder)
    def save(form, name, begin):
        page.browser.click("#files")
        page.browser.click(f"#save-{form}")
        # An empty file is there first.
        content = wait_for(lambda: (folder / name).exists() and (folder / name).read_bytes(), name)
        assert content.startswith(begin), content[:40]
        return content
    save("png", "village.png", b"\x89PNG")
    save("svg", "village.svg", b"<svg")
    image = save("image", "village.waymap", b"")
    drop(page, "Village.waymap", image)
    page.shows("#banner", "Imported village-2: 28 × 16, 8 neighbours.")
    page.shows("#cell", "~village-2")
    assert programs.cost("village-2", "0,8", "27,8") == programs.cost("village", "0,8", "27,8")
    drop(page, "noise.bin", b"\x00\x01\x02")
    page.shows("#banner", "noise.bin: the file is not UTF-8, but looks like UTF-16.")
    # The page lists the parts of a file that were not used.
    notes = {"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"id": "a"}, "geometry": {"type": "Point", "coordinates": [0, 0]}},
        {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": []}}]}
    drop(page, "coast.json", json.dumps(notes).encode())
    page.shows("#notes-title", "Notes on coast")
    page.browser.click("#notes button")
    page.shows("#cell", "~coast")
    for name in ("village-2", "coast"):
        programs.run("map", "delete", name)


TESTS = [test_obstacles_by_hand, test_obstacles_by_keys, test_painting_changed_by_others, test_handles,
         test_edits_on_hexagons, test_edits_on_graph, test_edits_on_mesh, test_portals_by_hand, test_files]
