"""The questions beside that for a path, as people ask them on the server's page: on every kind of map."""

import json
import shlex
import urllib.request

from programs import wait_for


def opens(page, link, text):
    """A link, which the page leaves as it is."""
    page.browser.run("location.hash = arguments[0]", link)
    page.shows("#asked", text)
    address = lambda: page.browser.run("return location.hash")
    wait_for(lambda: address() == f"#{link}", address)


def on_mesh(page, x, y):
    """Where a place of the mesh keep lies, of which all is shown from above."""
    page.size = (64, 44)
    return page.place(x * 2.5 + 1.5, y * 2.5 + 1.5)


def has_near(page, place, name):
    """Returns true if a colour of the page's style is within a few pixels of a place of the map."""
    return page.browser.run("""
        const [x, y, [red, green, blue]] = arguments;
        const canvas = document.getElementById('map');
        const { left, top } = canvas.getBoundingClientRect();
        const { data } = canvas.getContext('2d').getImageData(x - left - 6, y - top - 6, 13, 13);
        return data.some((_, i) => i % 4 === 0 && data[i] === red && data[i + 1] === green && data[i + 2] === blue);""",
                            *place, page.ink(name))


def copied(page, form):
    page.browser.run("document.getElementById('copied-text').value = ''")
    page.browser.click(f"#copy-{form}")
    page.shows("#copied", "~Copied.")
    return page.browser.run("return document.getElementById('copied-text').value")


def can_be_copied(page, programs):
    """As a command and as JSON, which the server answers."""
    words = shlex.split(copied(page, "command"))
    server = words.index("--server")
    programs.run(*words[1:server], *words[server + 2:])
    words = shlex.split(copied(page, "json"))
    request = urllib.request.Request(words[2], words[words.index("-d") + 1].encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_marked_places(page, programs):
    browser = page.browser
    page.choose("ten-by-ten", 10, 10)
    browser.keys("\ue00c")
    page.press(0, 0)
    page.choose_option("ask", "goals")
    page.shows("#asked", "This needs a goal or a marked place.")
    browser.click("[data-tool=mark]")
    page.press(9, 9)
    page.press(0, 5)
    page.shows("#asked", "Of 2 goals, B is the cheapest to reach, at a cost of 5.")
    page.shows("#legend", "~marked place")
    # A press on a mark takes it away, and M puts one at the cursor.
    page.press(0, 5)
    cost = programs.cost("ten-by-ten", "0,0", "9,9")
    page.shows("#asked", f"Of 1 goal, A is the cheapest to reach, at a cost of {cost}.")
    page.point_at(0, 3)
    browser.run("document.getElementById('map').focus()")
    browser.keys("m")
    page.shows("#asked", "Of 2 goals, B is the cheapest to reach, at a cost of 3.")
    page.wait_for_color(page.place(0, 2), page.ink("path"))
    assert browser.run("return location.hash") == "#map=ten-by-ten&start=0,0&ask=goals&marked=9,9;0,3"
    assert can_be_copied(page, programs)["goalIndex"] == 1
    assert "    (0, 0),\n        [(9, 9), (0, 3)],\n" in copied(page, "python")
    browser.click("[data-tool=path]")
    opens(page, "map=hex-isle&start=3,3&goal=12,7&ask=goals&marked=4,3", "~Of 2 goals, A is the cheapest to reach")
    opens(page, "map=isles&start=harbour&ask=goals&marked=lighthouse;ford",
          "Of 2 goals, B is the cheapest to reach, at a cost of 6.")
    opens(page, "map=keep&start=2%2C2%2C0&ask=goals&marked=9%2C2%2C0;2%2C3%2C4",
          "Of 2 goals, A is the cheapest to reach, at a cost of 7.")


def test_matrix(page, programs):
    browser = page.browser
    opens(page, "map=ten-by-ten&start=0,0&goal=0,4&ask=matrix&marked=2,0",
          "Costs of paths, from the places on the left to those above.")
    page.shows("#matrix", "SGAS04–G40–A–––")
    page.size = (10, 10)
    # Focus and pointer mark the pair.
    browser.run("document.querySelector('#matrix tbody td:nth-child(3)').focus()")
    page.wait_for_color(page.place(0, 2), page.ink("marked"))
    browser.run("document.activeElement.blur()")
    wait_for(lambda: page.color_at(*page.place(0, 2)) != page.ink("marked"), "the pair without a mark")
    assert len(can_be_copied(page, programs)["costs"]) == 9
    opens(page, "map=isles&start=harbour&ask=matrix&marked=ford", "~Costs of paths")
    page.shows("#matrix tr:last-child td:nth-child(2)", "6")
    opens(page, "map=keep&start=2%2C2%2C0&ask=matrix&marked=9%2C2%2C0", "~Costs of paths")
    page.shows("#matrix tr:last-child td:nth-child(2)", "7")
    opens(page, "map=hex-isle&ask=matrix&marked=3,3", "This needs two places: a start, a goal or marked places.")
    assert browser.run("return document.getElementById('matrix').hidden")


def test_flow(page, programs):
    opens(page, "map=ten-by-ten&goal=0,0&ask=flow&budget=3", "From 8 cells a path leads to G.")
    page.size = (10, 10)
    wait_for(lambda: has_near(page, page.place(0, 2), "trail"), "an arrow")
    assert not has_near(page, page.place(0, 5), "trail")
    page.shows("#legend", "~way to a goal")
    can_be_copied(page, programs)
    opens(page, "map=hex-isle&goal=4,4&ask=flow", "From 87 cells a path leads to G.")
    opens(page, "map=isles&goal=harbour&ask=flow&marked=lighthouse", "From 4 nodes a path leads to the nearest of 2 goals.")
    opens(page, "map=keep&goal=2%2C2%2C0&ask=flow", "From 32 polygons a path leads to G.")
    wait_for(lambda: has_near(page, on_mesh(page, 2, 5), "trail"), "an arrow on the mesh")


def test_samples(page, programs):
    opens(page, "map=ten-by-ten&start=0,0&ask=samples&count=4&seed=7", "~4 places from ")
    page.shows("#asked", "~ cells that can be reached from the start.")
    page.size = (10, 10)
    cells = can_be_copied(page, programs)["cells"]
    assert len(cells) == 4
    page.wait_for_color(page.place(cells[0].get("x", 0), cells[0].get("y", 0)), page.ink("trail"))
    opens(page, "map=hex-isle&ask=samples", "20 places from 87 cells.")
    opens(page, "map=isles&ask=samples&count=9", "4 places from 4 nodes.")
    opens(page, "map=keep&ask=samples&count=3", "3 places from 32 polygons.")


def test_reach_on_mesh(page, _programs):
    opens(page, "map=keep&start=2%2C2%2C0&ask=reach&budget=6", "~polygons can be reached from the start")
    near, far, beyond = (on_mesh(page, *place) for place in [(2.6, 5), (6.8, 4.6), (6, 8)])
    wait_for(lambda: page.color_at(*near)[1] > page.color_at(*far)[1] + 40, "bands of colour")
    assert page.color_at(*far)[0] > page.color_at(*far)[2] + 80
    # Its polygon is reached in part: that is seen.
    ground = page.color_at(*beyond)
    assert max(ground) - min(ground) < 60, ground


def test_overlay(page, programs):
    browser = page.browser
    page.browser.run("location.hash = '#map=ten-by-ten&start=0,9&goal=9,9'")
    page.choose("ten-by-ten", 10, 10)
    page.shows("#cost", "9")
    before = page.revision()
    browser.click("[data-tool=overlay]")
    page.drag((5, 3), (5, 6), (5, 9))
    page.shows("#cost", programs.cost("ten-by-ten", "0,9", "9,9", "--block", "5,3..5,9"))
    page.shows("#legend", "~overlay: blocked for these questions alone")
    page.point_at(5, 8)
    page.shows("#cell", "~under overlay")
    assert browser.run("return location.hash") == "#map=ten-by-ten&start=0,9&goal=9,9&overlay=5,3,5,9"
    # This is not an edit.
    assert page.revision() == before and programs.cost("ten-by-ten", "0,9", "9,9") == "9"
    assert can_be_copied(page, programs)["cost"] == 23
    assert '"view": ' not in copied(page, "python") and "view={" in copied(page, "python")
    # A press frees it, and X blocks at the cursor.
    page.press(5, 5)
    page.shows("#cost", "9")
    page.point_at(5, 9)
    browser.run("document.getElementById('map').focus()")
    browser.keys("x")
    page.shows("#cost", programs.cost("ten-by-ten", "0,9", "9,9", "--block", "5,9"))
    browser.keys("x")
    page.shows("#cost", "9")
    browser.click("[data-tool=path]")
    opens(page, "map=hex-isle&start=3,3&goal=12,7&overlay=3,4,12,4", "")
    page.shows("#cost", programs.cost("hex-isle", "3,3", "12,7", "--block", "3,4..12,4"))
    opens(page, "map=hex-isle&start=3,3&ask=reach&overlay=2,2,4,2;2,3,2,3;4,3,4,3;2,4,4,4",
          "1 cell can be reached from the start, the farthest at a cost of 0.")
    opens(page, "map=isles&start=harbour&goal=lighthouse&overlay=ford", "")
    page.shows("#cost", "20")
    can_be_copied(page, programs)
    opens(page, "map=isles&start=harbour&goal=lighthouse&ask=explain&overlay=5,-1,7,1;5,7,7,9", "~the overlay, at ")
    opens(page, "map=keep&start=2%2C2%2C0&goal=9%2C2%2C0&overlay=5,1,7,3", "")
    page.shows("#cost", programs.cost("keep", "2,2,0", "9,2,0", "--block", "polygon:5,1..7,1..7,3..5,3"))
    # Drawn on the mesh, and pressed away.
    browser.click("[data-tool=overlay]")
    browser.point([on_mesh(page, 6, 2), "down", "up"])
    page.shows("#cost", "7")
    browser.point([on_mesh(page, 5, 1), "down", on_mesh(page, 6, 2), on_mesh(page, 7, 3), "up"])
    wait_for(lambda: page.browser.text("#cost") not in ("7", "–"), "the way around")
    browser.click("[data-tool=path]")


def test_profiles_and_tags(page, programs):
    """All questions heed the profile and the tags."""
    programs.run("map", "create", "ford", "6x3")
    boat = {"map": "ford", "edits": [{"putProfile": {"name": "boat", "profile": {"footprint": 2}}}]}
    update = f"{page.address}waystar.v1.MapService/UpdateMap"
    urllib.request.urlopen(update, json.dumps(boat).encode(), timeout=60).close()
    file = programs.work / "toll.json"
    file.write_text(json.dumps({
        "nodes": [{"id": name, "position": {"x": x}} for x, name in enumerate("abc")],
        "edges": [{"edge": {"from": "a", "to": "b"}, "tags": ["walk"]}, {"edge": {"from": "b", "to": "c"}}]}))
    programs.run("map", "create", "toll", "--graph", str(file))
    opens(page, "map=ford&start=0,0&profileName=boat&ask=reach",
          "10 cells can be reached from the start, the farthest at a cost of 4.4142.")
    page.choose_option("option-profile", "")
    page.shows("#asked", "~18 cells can be reached")
    opens(page, "map=toll&start=a&requiredTags=walk&ask=reach",
          "2 nodes can be reached from the start, the farthest at a cost of 1.")
    can_be_copied(page, programs)
    for name in ("ford", "toll"):
        programs.run("map", "delete", name)
    page.choose("ten-by-ten", 10, 10)


def test_terrains_of_mesh(page, programs):
    """They have the colours of the legend, and may be avoided."""
    corners = [f"v {x} 0 {y}" for y in (0, 6, 12) for x in (0, 10, 20, 30, 40)]
    quads = lambda *firsts: [f"f {i} {i + 5} {i + 6} {i + 1}" for i in firsts]
    lines = [*corners, *quads(1, 3, 6, 7, 8, 9), "usemtl water", *quads(2), "usemtl lava", *quads(4)]
    file = programs.work / "stream.obj"
    file.write_text("\n".join(lines))
    programs.run("map", "import", str(file), "--mesh-terrain", "2=lava:impassable")
    page.browser.run("location.hash = 'map=stream&start=2,2,0&goal=28,2,0'")
    page.shows("#cost", "26")
    page.shows("#legend", "~water")
    colors = page.browser.run("""
        return Object.fromEntries([...document.querySelectorAll('#legend li')].map((item) =>
          [item.textContent, getComputedStyle(item.firstChild).color.match(/\\d+/g).map(Number)]));""")
    page.size = (64, 22)
    for terrain, place in (("water", (15, 4.5)), ("lava, impassable", (35, 4.5))):
        page.wait_for_color(page.place(*(each * 1.5 + 1.5 for each in place)), colors[terrain])
    page.shows("#avoid", "water")
    page.browser.click("#avoid input")
    page.shows("#cost", "27.8885")
    assert "&forbiddenTerrains=water" in page.browser.run("return location.hash")
    assert "--avoid=water" in shlex.split(copied(page, "command"))
    page.browser.click("#avoid input")
    page.shows("#cost", "26")
    page.browser.run("location.hash = 'map=stream&start=2,2,0&goal=28,2,0&forbiddenTerrains=water'")
    page.shows("#cost", "27.8885")
    page.choose("ten-by-ten", 10, 10)
    programs.run("map", "delete", "stream")


def test_copy_as_csharp(page, programs):
    opens(page, "map=keep&start=2%2C2%2C0&goal=9%2C2%2C0&unreachablePolicy=UNREACHABLE_POLICY_REPORT&overlay=5,1,7,3", "")
    page.shows("#outcome", "found")
    text = copied(page, "csharp")
    assert "PathService.FindPath, new FindPathRequest {" in text and "Start = (2.0, 2.0, 0.0)," in text, text
    assert "View = new View { Overlay = new Overlay { Blocked = new Shape { Polygons = { new Polygon {" in text, text


def test_hostile_link(page, _programs):
    """Words of a link stay words, in the page and in a shell."""
    tag = "<b>';$(id);'"
    page.browser.run("location.hash = 'map=ten-by-ten&start=0,0&goal=7,7&overlay=inn&requiredTags='"
                     " + encodeURIComponent(arguments[0])", tag)
    page.shows("#goal", "7, 7")
    page.shows("#cost", "14")
    assert f"--require-tag={tag}" in shlex.split(copied(page, "command"))
    request = json.loads(shlex.split(copied(page, "json"))[-1])
    assert request["agent"]["profile"]["requiredTags"] == [tag] and "view" not in request, request
    assert tag in copied(page, "csharp") and tag in copied(page, "python")
    page.choose_option("option-tags", "")


def test_question_on_phone(page, _programs):
    page.browser.open("about:blank")
    page.browser.open(f"{page.address}#map=dungeon&start=2,2")
    page.shows("#start", "2, 2")
    bottom = page.browser.run("return document.getElementById('ask').getBoundingClientRect().bottom + scrollY")
    assert bottom < 844, bottom


TESTS = [test_marked_places, test_matrix, test_flow, test_samples, test_reach_on_mesh, test_overlay, test_profiles_and_tags,
         test_terrains_of_mesh, test_copy_as_csharp, test_hostile_link]
PHONE_TESTS = [test_question_on_phone]
