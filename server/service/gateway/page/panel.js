// What the page says of the path, of the cell under the pointer, and of searches.

import { UNAVAILABLE } from "./api.js";
import { algorithmText, costText, countText, outcomeText, timeText } from "./words.js";

export const element = (id) => document.getElementById(id);

// An element with those fields, and what it holds.
export function make(tag, fields, ...children) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}

// The parts of a table with a row for each of `rows`; the first cell of each is its name, the others are texts or have
// fields.
export function makeTable(head, rows) {
  const headOf = (textContent, scope) => make("th", { textContent, scope });
  const cellOf = (cell) => (typeof cell === "string" ? make("td", {}, cell) : make("td", cell));
  const rowOf = ([name, ...cells]) => make("tr", {}, headOf(name, "row"), ...cells.map(cellOf));
  const names = make("tr", {}, ...head.map((name) => headOf(name, "col")));
  return [make("thead", {}, names), make("tbody", {}, ...rows.map(rowOf))];
}

function set(id, text) {
  element(id).textContent = text;
}

function headline(cost, outcome, kind, sentence) {
  set("cost", cost);
  set("outcome", outcome);
  element("outcome").dataset.kind = kind;
  set("sentence", sentence);
}

export function showNothing(sentence) {
  headline("–", "none yet", "none", sentence);
  ["steps", "expanded", "search-time", "queue-time", "algorithm"].forEach((id) => set(id, "–"));
}

export function showAnswer(answer, steps, leadsTo) {
  const [word, kind, reason] = outcomeText(answer);
  const beyond = leadsTo ? `Goes on, on the map ${leadsTo}.` : "";
  const hasPath = answer.path?.end !== undefined;
  headline(hasPath ? costText(answer.cost) : "–", word, kind, reason || beyond);
  set("steps", hasPath ? countText(steps) : "–");
  const statistics = answer.info.statistics ?? {};
  set("expanded", countText(statistics.expanded));
  set("search-time", timeText(statistics.searchTime));
  set("queue-time", timeText(statistics.queueTime));
  set("algorithm", algorithmText(statistics.algorithm));
}

export function showProblem({ code, message, reason }) {
  showNothing("");
  headline("–", code === UNAVAILABLE ? "no answer" : "refused", "bad", reason ? `${message} (${reason})` : message);
}

export function showEnds(start, goal, revision) {
  set("start", start ?? "–");
  set("goal", goal ?? "–");
  set("revision", revision ? countText(revision) : "–");
}

// Pairs of a name and a value.
export function showCell(pairs) {
  const partsOf = ([name, value], i) => [i > 0 ? "  ·  " : "", name && `${name} `, make("b", {}, value)];
  const parts = pairs.flatMap(partsOf);
  element("cell").replaceChildren(...parts, "\u00a0");
}

export function showPlayback(playback, canPlay, problem) {
  const { isPlaying, isLoaded, isComparing, length, position } = playback;
  const play = element("play");
  play.disabled = !canPlay;
  play.setAttribute("aria-pressed", String(isPlaying));
  set("play-label", isPlaying ? "Pause" : "Play");
  play.querySelector("path").setAttribute("d", isPlaying ? "M7 4v12M13 4v12" : "M6 4l10 6-10 6z");
  element("step-back").disabled = !canPlay;
  element("step-forward").disabled = !canPlay;
  const moment = element("moment");
  moment.disabled = !isLoaded;
  moment.max = String(length);
  moment.value = String(position);
  const [first] = playback.players;
  const cost = first.current && !first.isAtEnd ? `, cost so far ${costText(first.current.g)}` : "";
  const all = `${countText(length)}${playback.players.some(({ isTruncated }) => isTruncated) ? " and more" : ""}`;
  if (problem) {
    set("moment-text", problem);
  } else if (!isLoaded) {
    set("moment-text", "How the path was found, step by step.");
  } else if (isComparing) {
    set("moment-text", `${countText(position)} of ${all} expansions`);
  } else {
    set("moment-text", `${countText(position)} of ${all}: ${countText(first.expanded)} expanded${cost}`);
  }
}

// Shows the figures of a search so far and, when it is over, those of its answer.
export function showFigures(figures, { answer, problem, query, isAtEnd, expanded, position }) {
  const statistics = answer?.info.statistics ?? {};
  const soFar = isAtEnd ? statistics : { expanded, generated: position - expanded };
  const countOf = (count) => (answer ? countText(count) : "–");
  const tolerance = query?.tolerance ? `, tolerance ${query.tolerance}` : "";
  const texts = {
    name: problem || algorithmText(statistics.algorithm) + tolerance,
    expanded: countOf(soFar.expanded),
    generated: countOf(soFar.generated),
    cost: isAtEnd && answer.path?.end ? costText(answer.cost) : "–",
  };
  for (const [name, text] of Object.entries(texts)) {
    figures.querySelector(`[data-figure=${name}]`).textContent = text;
  }
}

// Copies a text and shows it. `form` says whether it names a gRPC port, which the page cannot know. The Clipboard API is
// only for pages that came encrypted or from this machine.
export function showCopied(text, form, missing = "Set a start and a goal first.") {
  const field = element("copied-text");
  const focused = document.activeElement;
  field.hidden = !text;
  field.value = text ?? "";
  field.select();
  const isCopied = Boolean(text) && document.execCommand("copy");
  focused.focus();
  const note = form === "command" || form === "python" ? " 7450 is the default port of gRPC." : "";
  set("copied", isCopied ? `Copied.${note}` : text ? "Copy the text below." : missing);
}

// Lists the notes of an import: the parts of the file that it ignored.
export function showNotes(map, notes) {
  const texts = notes.map(({ text, firstPlace = "", count }) => {
    return [text, firstPlace && `at ${firstPlace}`, count > 1 && `${countText(count)} times`].filter(Boolean).join(", ");
  });
  set("notes-title", `Notes on ${map}`);
  element("notes-list").replaceChildren(...texts.map((text) => make("li", {}, text)));
  element("notes").showModal();
}

// `news` of that kind is a banner.
export function showLink(kind, server, news = "", newsKind = "bad") {
  element("link").dataset.kind = kind;
  set("server", server);
  const banner = element("banner");
  banner.hidden = !news;
  banner.dataset.kind = newsKind;
  if (banner.textContent !== news) {
    banner.textContent = news;
  }
}

// The costs between places, as ComputeCostMatrix gives them, with the names of the places. `look(pair)` is called with
// the numbers of the two places that are looked at, or null.
export function showMatrix({ names, costs } = { names: [] }, look) {
  const cellOf = (from, to) => {
    const cost = costs[from * names.length + to];
    const [textContent, exact] = cost < 0 ? ["–", "no path"] : [costText(Number(cost.toFixed(1))), costText(cost)];
    const [begin, end] = [() => look([from, to]), () => look(null)];
    const listeners = { onmouseenter: begin, onfocus: begin, onmouseleave: end, onblur: end };
    return { textContent, tabIndex: 0, title: `${names[from]} to ${names[to]}: ${exact}`, ...listeners };
  };
  const rows = names.map((name, from) => [name, ...names.map((_, to) => cellOf(from, to))]);
  element("matrix").hidden = names.length === 0;
  element("matrix").replaceChildren(...makeTable(["", ...names], rows));
}
