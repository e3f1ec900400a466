// The server at work: what it does now, and the servers of its fleet.

import { call, needRpcError, pause } from "./api.js";
import { FAMILIES, ratesBetween } from "./metrics.js";
import { element, make, makeTable } from "./panel.js";
import { amountText, bytesText, countText, millisText, rateText, spanText } from "./words.js";

const MILLIS_BETWEEN_LOOKS = 1000;
// So many looks are in a curve.
const LOOKS = 60;
// A server reports every 5 s, by its own clock.
const LATE_MILLIS = 11000;

const CURVES = [
  ["requests/s", "requests", rateText],
  ["clients", "clients", countText],
  ["p50", "p50", millisText],
  ["p99", "p99", millisText],
  ["memory", "memory", bytesText],
  ["processors", "processors", (value) => value.toFixed(2)],
];

// The last values, from the least they may be, 0, to the most of them. Nothing is drawn where there is none.
function curve(values) {
  const most = Math.max(...values.filter((value) => value !== undefined), 0) || 1;
  const pointOf = (value, i) => value !== undefined && `${LOOKS - values.length + i},${19 - (18 * value) / most}`;
  const points = values.map(pointOf);
  const line = points.map((point, i) => (point ? `${points[i - 1] ? "L" : "M"}${point}` : "")).join("");
  const box = `viewBox="0 0 ${LOOKS} 20" preserveAspectRatio="none"`;
  return make("div", { className: "curve", innerHTML: `<svg ${box} aria-hidden="true"><path d="${line}" /></svg>` });
}

export class ServerPanel {
  #before = null;
  #looks = [];

  async run() {
    for (;;) {
      if (!element("server-tab").checked || document.hidden) {
        this.#before = null;
      } else {
        await this.#look();
      }
      await pause(this.#before ? MILLIS_BETWEEN_LOOKS : MILLIS_BETWEEN_LOOKS / 5);
    }
  }

  async #look() {
    try {
      const [metrics, list] = await Promise.all([
        call("ServerService/GetMetrics", { families: FAMILIES }),
        call("ServerService/ListServers", {}).catch((error) => ({ problem: error.message })),
      ]);
      if (this.#before) {
        const rates = ratesBetween(this.#before, metrics);
        this.#looks = [...this.#looks, rates].slice(-LOOKS);
        this.#show(rates, list);
      }
      this.#before = metrics;
    } catch (error) {
      needRpcError(error);
      this.#before = null;
      this.#tell(`The server does not say what it does: ${error.message}.`);
    }
  }

  // Does nothing if it was said already, so that a screen reader says it once.
  #tell(text) {
    if (element("server-news").textContent !== text) {
      element("server-news").textContent = text;
    }
  }

  #show(rates, list) {
    this.#tell(rates.conditions.map((text) => `Attention: ${text}`).join("\n"));
    const optional = (value, textOf) => (value === undefined ? "–" : textOf(value));
    const curves = CURVES.map(([name, field, textOf]) => {
      const value = make("dd", {}, optional(rates[field], textOf), curve(this.#looks.map((look) => look[field])));
      return make("div", {}, make("dt", {}, name), value);
    });
    const { uptime, failures, refusals, watches, agents, methods, lanes, mapCount, mapBytes } = rates;
    const counts = [
      `up ${spanText(uptime)}`, `${rateText(failures)} failed/s`, `${rateText(refusals)} of them refused/s`,
      amountText(watches, "watch", "watches"), `${amountText(agents, "agent")} followed`,
      `${amountText(mapCount, "map")}, ${bytesText(mapBytes)} together`,
    ];
    element("server-view").replaceChildren(
      make("dl", { className: "curves" }, ...curves),
      make("p", { className: "sentence" }, counts.join(", ")),
      make("h2", {}, "Servers"),
      ...this.#servers(list),
      make("h2", {}, "Workers"),
      make("table", {}, ...makeTable(["lane", "running", "busy", "queued", "refused/s"], lanes.map((lane) => [
        lane.name, `${lane.running} of ${lane.workers}`, `${Math.round(100 * lane.busy)}%`, countText(lane.queued),
        rateText(lane.refusals),
      ]))),
    );
    element("methods").replaceChildren(...makeTable(["", "requests/s", "failed/s", "p50", "p99"], methods.map((method) => [
      method.name.replace("/", "/\u200b"), rateText(method.requests), rateText(method.failures),
      optional(method.p50, millisText), optional(method.p99, millisText),
    ])));
  }

  #servers({ servers = [], isFleet, problem }) {
    if (problem) {
      return [make("p", { className: "sentence" }, problem)];
    }
    const newest = Math.max(...servers.map(({ reportTime }) => Date.parse(reportTime)));
    const items = servers.map((server) => {
      const { address, version, startTime, reportTime, isThis, maps, lag, staleness } = server;
      const late = newest - Date.parse(reportTime);
      const isBehind = Number(lag ?? 0) > 0;
      const dot = make("span", { className: "dot" });
      dot.dataset.kind = late > LATE_MILLIS ? "bad" : isBehind ? "fair" : "good";
      const since = new Date(startTime).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
      const facts = [
        `version ${version}`, `since ${since}`, amountText(maps, "map"),
        ...(isFleet ? [`lag ${countText(lag)}`, `heard of etcd ${spanText(parseFloat(staleness ?? "0s"))} ago`] : []),
        ...(late > LATE_MILLIS ? [`has not reported for ${spanText(late / 1000)}`] : []),
      ];
      const name = make("strong", {}, address);
      return make("li", {}, dot, name, isThis ? " this server" : "", make("p", {}, facts.join(", ")));
    });
    const alone = isFleet ? [] : [make("p", { className: "sentence" }, "It is in no fleet.")];
    return [make("ul", { className: "servers" }, ...items), ...alone];
  }
}
