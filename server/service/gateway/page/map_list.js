// The maps of the server, asked for now and then.

import { listAll, needRpcError, oneAtATime, pause } from "./api.js";
import { element, make } from "./panel.js";
import { countText, sizeText } from "./words.js";

const MILLIS_BETWEEN_ASKS = 2000;
// A list of more maps has a filter.
const MANY = 10;

const filter = element("map-filter");
// In which map2 comes before map10.
const order = new Intl.Collator("en", { numeric: true });

export class MapList {
  maps = [];
  chosen = "";
  shown = "";
  list = element("map-list");

  constructor(app) {
    this.app = app;
    filter.addEventListener("input", () => this.#showChosen());
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
      const maps = await listAll("MapService/ListMaps", { pageSize: 200 }, "maps");
      this.maps = maps.sort((a, b) => order.compare(a.map, b.map));
      this.show();
      this.app.listed(this.maps);
    } catch (error) {
      needRpcError(error);
      this.app.down(error);
    }
  });

  find(map) {
    return this.maps.find((info) => info.map === map);
  }

  update(map, revision) {
    const info = this.find(map);
    if (info) {
      info.version.revision = revision;
      this.show();
    }
  }

  choose(map) {
    this.chosen = map;
    this.#showChosen();
  }

  #showChosen() {
    this.show();
    this.list.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // Buttons keep the focus while the list is the same.
  show() {
    filter.hidden = this.maps.length <= MANY;
    const part = filter.hidden ? "" : filter.value.trim().toLowerCase();
    const maps = this.maps.filter((info) => info.map.toLowerCase().includes(part));
    const content = JSON.stringify([this.chosen, maps.map((info) => [info.map, info.version.revision, sizeText(info)])]);
    if (content === this.shown) {
      return;
    }
    this.shown = content;
    const focused = document.activeElement?.dataset?.map;
    this.list.replaceChildren(...maps.map((info) => this.#item(info)));
    element("no-map").textContent = part && maps.length === 0 ? `No map has a name with "${part}".` : "";
    [...this.list.querySelectorAll("button")].find((button) => button.dataset.map === focused)?.focus();
  }

  #item(info) {
    const lines = [sizeText(info), `revision ${countText(info.version.revision)}`];
    const choose = () => this.app.open(info.map);
    const fields = { type: "button", ariaCurrent: String(info.map === this.chosen), onclick: choose };
    const button = make("button", fields, make("strong", {}, info.map), ...lines.map((line) => make("span", {}, line)));
    button.dataset.map = info.map;
    return make("li", {}, button);
  }
}
