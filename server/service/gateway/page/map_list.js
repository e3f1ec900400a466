// The maps of the server, asked for now and then.

import { listAll, needRpcError, oneAtATime, pause } from "./api.js";
import { countText, sizeText } from "./words.js";

const MILLIS_BETWEEN_ASKS = 4000;

export class MapList {
  // `events` has choose(map), listed(maps), down(error).
  constructor(list, events) {
    this.list = list;
    this.events = events;
    this.maps = [];
    this.chosen = "";
    this.shown = "";
  }

  async run() {
    for (;;) {
      if (!document.hidden) {
        await this.ask();
      }
      await pause(MILLIS_BETWEEN_ASKS);
    }
  }

  ask = oneAtATime(async () => {
    try {
      this.maps = await listAll("MapService/ListMaps", { pageSize: 200 }, "maps");
      this.show();
      this.events.listed(this.maps);
    } catch (error) {
      needRpcError(error);
      this.events.down(error);
    }
  });

  find(map) {
    return this.maps.find((info) => info.map === map);
  }

  // The revision of a map that is known to be at another by now.
  update(map, revision) {
    const info = this.find(map);
    if (info) {
      info.version.revision = revision;
      this.show();
    }
  }

  choose(map) {
    this.chosen = map;
    this.show();
  }

  // Buttons keep the focus while the list is the same.
  show() {
    const content = JSON.stringify([this.chosen, this.maps.map((info) => [info.map, info.version.revision, sizeText(info)])]);
    if (content === this.shown) {
      return;
    }
    this.shown = content;
    const focused = document.activeElement?.dataset?.map;
    this.list.replaceChildren(...this.maps.map((info) => this.#item(info)));
    [...this.list.querySelectorAll("button")].find((button) => button.dataset.map === focused)?.focus();
  }

  #item(info) {
    const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.map = info.map;
    button.setAttribute("aria-current", String(info.map === this.chosen));
    const revision = `revision ${countText(info.version.revision)}`;
    button.append(make("strong", info.map), make("span", sizeText(info)), make("span", revision));
    button.addEventListener("click", () => this.events.choose(info.map));
    item.append(button);
    return item;
  }
}
