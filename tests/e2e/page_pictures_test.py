#!/usr/bin/env python3
"""The server's page looks as somebody who looked at it has approved, for each kind of map in both themes.

page_pictures_test.py BIN: BIN is the folder of the programs. With $WAYSTAR_APPROVE_PICTURES, the pictures in
tests/data/approved/page become what the page looks like now. Each version of Chromium draws letters in its own way, so
they are compared with pictures of the same version only, in ./dev release-check.
"""

import base64
import collections
import operator
import os
import pathlib
import struct
import sys
import tempfile
import time
import zlib

import webdriver
from programs import Programs, wait_for

APPROVED = pathlib.Path(__file__).resolve().parents[1] / "data" / "approved" / "page"
ROOMS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "rooms.json"
SIZE = {"width": 1200, "height": 680}
# A channel of an approved picture may be off by so much, since a palette has 256 colours at most.
MOST_SLIP = 12
# So many pixels may differ by more than that.
MOST_DIFFERENCE = 14
MOST_PIXELS = 50
# Each has a name, the page's address, and how much of the search is shown.
PAGES = {
    "squares": ("map=river&start=0,1&goal=25,9&marked=9,2&overlay=18,6,18,9", 0),
    "hexagons": ("map=hex-isle&start=2,2&goal=13,7&algorithm=ALGORITHM_DIJKSTRA", 1),
    "graph": ("map=rooms&start=well&goal=vault&algorithm=ALGORITHM_ASTAR", 0.6),
    "mesh": ("map=keep&start=2%2C2%2C0&goal=2%2C3%2C4", 1),
}
# No two servers have that in common.
VARYING = "#server, #search-time, #queue-time"
PIXELS = """
    const pixelsOf = async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes]));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      context.drawImage(bitmap, 0, 0);
      return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
    };"""


def prepare(programs):
    """Maps with all that the page can show of them."""
    programs.run("map", "create", "rooms", "--graph", str(ROOMS))
    programs.run("obstacle", "put", "rooms", "guard", "disc:18.5,13.5,1.5")
    programs.run("obstacle", "put", "river", "tower", "7,3..8,4")
    programs.run("obstacle", "put", "river", "log", "12,9..15,10", "--factor", "3")
    programs.run("obstacle", "put", "river", "meadow", "18,3..21,5", "--factor", "0.7")
    programs.run("portal", "put", "river", "ferry", "2,10", "22,10", "--cost", "2")
    programs.run("portal", "put", "river", "tunnel", "1,1", "24,1", "--closed")
    programs.run("obstacle", "put", "hex-isle", "camp", "9,5..10,6", "--factor", "2")
    programs.run("obstacle", "put", "keep", "crate", "disc:13,13,1")


def look(browser, address, link, share):
    """Takes a picture once two in a row are the same."""
    browser.open("about:blank")
    browser.open(f"{address}#{link}")
    browser.wait_for_text("#outcome", "found")
    browser.run("document.styleSheets[0].insertRule(`:is(${arguments[0]}) { display: none }`)", VARYING)
    if share:
        browser.click("#step-forward")
        browser.wait_for_text("#moment-text", "~1 of ")
        browser.run("const element = document.getElementById('moment'); element.value = arguments[0] * element.max;"
                    "element.dispatchEvent(new Event('input')); document.activeElement.blur()", share)
    browser.point([(SIZE["width"] / 2, 10)])
    pictures = [browser.picture()]

    def is_still():
        time.sleep(0.5)
        pictures.append(browser.picture())
        return pictures[-1] == pictures[-2]
    wait_for(is_still, "a page that stands still")
    return pictures[-1]


def differing_pixels(browser, approved, picture):
    """How many there are, or -1 if the pictures differ in size."""
    return browser.run(PIXELS + """
        return Promise.all([arguments[0], arguments[1]].map(pixelsOf)).then(([a, b]) => {
          const differs = (_, i) => i % 4 === 0 && [0, 1, 2].some((k) => Math.abs(a[i + k] - b[i + k]) > arguments[2]);
          return a.length === b.length ? a.filter(differs).length : -1;
        });""", approved, picture, MOST_DIFFERENCE)


def small_png(browser, picture):
    """The picture with a palette, in a quarter of the bytes. Each colour is near to one that is more frequent."""
    text = browser.run(PIXELS + """
        return pixelsOf(arguments[0]).then((pixels) => {
          const parts = [];
          for (let i = 0; i < pixels.length; i += 32768) {
            parts.push(String.fromCharCode(...pixels.subarray(i, i + 32768)));
          }
          return btoa(parts.join(""));
        });""", picture)
    pixels = [color[:3] for color in struct.iter_unpack("BBBB", base64.b64decode(text))]
    palette, places = [], {}
    for color, _ in collections.Counter(pixels).most_common():
        near = (i for i, other in enumerate(palette) if max(map(abs, map(operator.sub, color, other))) <= MOST_SLIP)
        places[color] = next(near, len(palette))
        if places[color] == len(palette):
            palette.append(color)
    assert len(palette) <= 256, "MOST_SLIP has to be more"
    width, height = SIZE["width"], SIZE["height"]
    rows = b"".join(b"\0" + bytes(places[color] for color in pixels[y * width:(y + 1) * width]) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
            + chunk(b"PLTE", bytes(part for color in palette for part in color))
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def check(browser, address, theme, seen):
    """Returns the names of the pages that look otherwise, and writes those into the folder `seen`."""
    strange = []
    for name, (link, share) in PAGES.items():
        file = f"{name}-{theme}.png"
        picture = look(browser, address, link, share)
        if os.environ.get("WAYSTAR_APPROVE_PICTURES"):
            (APPROVED / file).write_bytes(small_png(browser, picture))
            continue
        approved = base64.b64encode((APPROVED / file).read_bytes()).decode()
        count = differing_pixels(browser, approved, picture)
        print(f"{file}: {count} pixels differ", flush=True)
        if not 0 <= count <= MOST_PIXELS:
            strange.append(file)
            (seen / file).write_bytes(base64.b64decode(picture))
    return strange


def main():
    missing = webdriver.missing_program()
    if missing:
        print(f"skipped: {missing} is not installed")
        return 77
    folder = pathlib.Path(sys.argv[1])
    seen = folder / "page-pictures"
    seen.mkdir(exist_ok=True)
    driver = webdriver.Driver()
    strange = []
    with tempfile.TemporaryDirectory() as work:
        programs = Programs(folder, work)
        try:
            prepare(programs)
            for theme in ("light", "dark"):
                browser = webdriver.Browser(driver, dark=theme == "dark", **SIZE)
                try:
                    strange += check(browser, programs.address, theme, seen)
                finally:
                    browser.close()
        finally:
            programs.close()
            driver.close()
    if strange:
        print(f"look at {', '.join(strange)} in {seen}: not as in {APPROVED}, for which another Chromium is a reason, too;"
              " WAYSTAR_APPROVE_PICTURES=1 takes all as they are now")
    return 1 if strange else 0


if __name__ == "__main__":
    sys.exit(main())
