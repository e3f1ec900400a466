"""What the server's page shows of the server at work, in the browser that shows the page."""

import itertools

from programs import wait_for

# A map of each kind.
KINDS = ["ten-by-ten", "hex-isle", "isles", "keep"]


def picture(page):
    return page.browser.run("return document.getElementById('live').toDataURL()")


def moves(page):
    before = picture(page)
    wait_for(lambda: picture(page) != before, "a moving agent")


def test_agents(page, programs):
    """On every kind of map."""
    browser = page.browser
    for name in KINDS:
        page.choose(name)
        page.shows("#agents-text", "~Agents walk to random goals")
        page.set("agent-count", "change", "5")
        browser.click("#add-agents")
        page.shows("#agents-text", "5 agents, none blocked.")
        page.shows("#legend", "~agent")
        moves(page)
        # Without a path they stop, until there is one again.
        programs.run("obstacle", "put", name, "flood", "0,0..30,30")
        page.shows("#agents-text", "5 agents, 5 of them blocked.")
        page.shows("#legend", "~blocked agent")
        programs.run("obstacle", "remove", name, "flood")
        page.shows("#agents-text", "5 agents, none blocked.")
        moves(page)
    # An agent that has just come to its goal may ask for the next while it stands in the flood.
    assert all("400" in line for line in browser.console_errors())


def test_agents_by_press_and_key(page, _programs):
    browser = page.browser
    page.choose("ten-by-ten", 10, 10)
    page.shows("#agents-text", "~The tool Agent adds one where you press.")
    browser.click("[data-tool=agent]")
    page.press(0, 0)
    page.shows("#agents-text", "1 agent, none blocked.")
    # On a wall it can go nowhere.
    page.press(2, 0)
    page.shows("#agents-text", "2 agents, 1 of them blocked.")
    assert browser.text("#start") == "–"
    browser.run("document.getElementById('map').focus()")
    page.point_at(7, 7)
    browser.keys("a")
    page.shows("#agents-text", "3 agents, 1 of them blocked.")
    browser.click("#remove-agents")
    page.shows("#agents-text", "~Agents walk")
    browser.click("[data-tool=path]")


def opacity(page, place):
    """Of what lies above the map there."""
    x, y = place
    return page.browser.run("""
        const canvas = document.getElementById('live');
        const { left, top } = canvas.getBoundingClientRect();
        return canvas.getContext('2d').getImageData(arguments[0] - left, arguments[1] - top, 1, 1).data[3];""", x, y)


def test_changes_flash(page, programs):
    """On every kind of map."""
    def flashes(name, place, on, off):
        edits = itertools.cycle([on, off])
        # A machine that is busy may see too late that it flashed.
        wait_for(lambda: programs.run(*next(edits)) and opacity(page, place), f"the flash on {name}")
        if next(edits) == off:
            programs.run(*off)
        wait_for(lambda: not opacity(page, place), f"the end of the flash on {name}")
    for name in KINDS:
        page.choose(name, 10, 10)
        flood = [["obstacle", "put", name, "flood", "1,1..20,14"], ["obstacle", "remove", name, "flood"]]
        middle = page.browser.run("const { left, top, width, height } = document.getElementById('map')"
                                  ".getBoundingClientRect(); return [left + width / 2, top + height / 2]")
        flashes(name, middle, *flood)
    page.choose("ten-by-ten", 10, 10)
    flashes("a cell", page.place(6, 6), ["block", "ten-by-ten", "6,6"], ["unblock", "ten-by-ten", "6,6"])
    assert opacity(page, page.place(3, 3)) == 0


TESTS = [test_agents, test_agents_by_press_and_key, test_changes_flash]
