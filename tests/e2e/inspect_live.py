"""What the server's page shows of the server at work, in the browser that shows the page."""

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


TESTS = [test_agents, test_agents_by_press_and_key]
