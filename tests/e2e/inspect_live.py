"""Tests agents, flashes and the server tab of the page, in a browser."""

import itertools
import json

from programs import wait_for

LEFT = "\ue012"
# A map of each kind.
KINDS = ["ten-by-ten", "hex-isle", "isles", "keep"]


def picture(page):
    return page.browser.run("return document.getElementById('live').toDataURL()")


def moves(page):
    before = picture(page)
    wait_for(lambda: picture(page) != before, "a moving agent")


def expect_refusals(browser):
    """An agent that stands in an obstacle cannot ask for a goal, and a message that comes too early is sent again."""
    strange = [line for line in browser.console_errors() if "400" not in line and "429" not in line]
    assert strange == [], strange


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
    expect_refusals(browser)


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
    expect_refusals(browser)


def test_agents_of_others(page, programs):
    """On every kind of map: drawn, counted and hidden."""
    browser = page.browser
    ways = [("ten-by-ten", "0,0", "7,7"), ("hex-isle", "3,2", "12,7"), ("isles", "harbour", "lighthouse"),
            ("keep", "2,10,0", "23,2,4")]
    for name, *ends in ways:
        with programs.running("walk", name, *ends, "--pace", "0"):
            wait_for(lambda name=name: json.loads(programs.run("agents", name, "--json")).get("agents"), "the agent")
            page.choose(name)
            page.shows("#others-text", "1 agent of other clients, none blocked.")
            page.shows("#legend", "~agent of another client")
            # The page's own are not among them.
            browser.click("#add-agents")
            page.shows("#agents-text", "~none blocked.")
            programs.run("obstacle", "put", name, "flood", "0,0..30,30")
            page.shows("#others-text", "1 agent of other clients, 1 of them blocked.")
            programs.run("obstacle", "remove", name, "flood")
            page.shows("#others-text", "1 agent of other clients, none blocked.")
            browser.click("#remove-agents")
            with_others = picture(page)
            browser.click("#show-others")
            page.shows("#others-text", "")
            wait_for(lambda shown=with_others: picture(page) != shown, "a picture without them")
            browser.click("#show-others")
            page.shows("#others-text", "1 agent of other clients, none blocked.")
        page.shows("#others-text", "")
    expect_refusals(browser)


def opacity(page, place):
    """Returns the opacity of the layer above the map there."""
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
    for name in KINDS:
        page.choose(name, 10, 10)
        flood = [["obstacle", "put", name, "flood", "1,1..20,14"], ["obstacle", "remove", name, "flood"]]
        middle = page.browser.run("const { left, top, width, height } = document.getElementById('map')"
                                  ".getBoundingClientRect(); return [left + width / 2, top + height / 2]")
        flashes(name, middle, *flood)
    page.choose("ten-by-ten", 10, 10)
    flashes("a cell", page.place(6, 6), ["block", "ten-by-ten", "6,6"], ["unblock", "ten-by-ten", "6,6"])
    assert opacity(page, page.place(3, 3)) == 0
    wait_for(lambda: not opacity(page, page.place(6, 6)), "the end of the flash")


def test_server_tab(page, programs):
    browser = page.browser
    page.choose("ten-by-ten", 10, 10)
    browser.click("#server-tab")
    assert browser.run("return document.getElementById('path-panel').offsetParent === null")
    for text in ("requests/s", "p50", "p99", "memory", "clients", "Workers", " together", "It is in no fleet."):
        page.shows("#server-view", f"~{text}")
    page.shows("#server-view strong", json.loads(programs.run("cluster", "--json"))["servers"][0]["address"])
    cost = programs.cost("ten-by-ten", "0,0", "7,7")
    page.shows("#methods", "~PathService/\u200bFindPath")
    # The map is there as before.
    page.press(0, 0)
    browser.run("document.getElementById('server-tab').focus()")
    browser.keys(LEFT)
    assert browser.run("return document.activeElement.id") == "path-tab"
    page.shows("#start", "0, 0")
    page.press(7, 7)
    page.shows("#cost", cost)


def test_rates(page, _programs):
    def answer(uptime, calls, counts, **gauges):
        labels = {"grpc_service": "waystar.v1.PathService", "grpc_method": "FindPath"}
        codes = [{"labels": {**labels, "grpc_code": code}, "value": value} for code, value in calls.items()]
        histogram = {"cumulative": [str(count) for count in counts], "count": str(counts[-1]), "sum": 1}
        return {"uptime": uptime, "families": [
            {"name": "waystar_open_calls", "metrics": [{"labels": labels, "value": 2}]},
            {"name": "grpc_server_handled_total", "metrics": codes},
            {"name": "grpc_server_handling_seconds", "bounds": [0.001, 0.002, 0.004],
             "metrics": [{"labels": labels, "histogram": histogram}]},
            *({"name": name, "metrics": [{"value": value}]} for name, value in gauges.items())]}
    def rates(before, after):
        script = "return import('/metrics.js').then((m) => m.ratesBetween(...arguments[0]))"
        return page.browser.run(script, [before, after])
    before = answer("10s", {"OK": 5, "ResourceExhausted": 1}, [2, 4, 6])
    after = answer("12s", {"OK": 14, "ResourceExhausted": 2}, [2, 12, 16], waystar_clients=3, process_cpu_seconds_total=1)
    found = rates(before, after)
    assert (found["requests"], found["failures"], found["refusals"]) == (5, 0.5, 0.5), found
    # Half of ten values end in the bucket of eight from 1 ms to 2 ms.
    assert round(found["p50"], 6) == 0.001625 and round(found["p99"], 6) == 0.0039, found
    assert (found["clients"], found["methods"][0]["name"]) == (3, "PathService/FindPath")
    # Nothing happened, or it is another run of the server.
    assert rates(after, answer("13s", {"OK": 14, "ResourceExhausted": 2}, [2, 12, 16])).get("p50") is None
    assert rates(after, answer("2s", {"OK": 14}, [2, 12, 16]))["requests"] == 7


TESTS = [test_agents, test_agents_by_press_and_key, test_agents_of_others, test_changes_flash, test_server_tab,
         test_rates]
