// A table of the costs between places.

import { costText } from "./words.js";

// `table` has the names of the places and the costs, as ComputeCostMatrix gives them. `look(pair)` is called with the
// numbers of the two places that are looked at, or null.
export function showMatrix(host, table, look) {
  const make = (tag, text, more) => Object.assign(document.createElement(tag), { textContent: text, ...more });
  const { names, costs } = table ?? { names: [] };
  const head = make("tr", "");
  head.append(make("td", ""), ...names.map((name) => make("th", name, { scope: "col" })));
  const rows = names.map((name, from) => {
    const row = make("tr", "");
    row.append(make("th", name, { scope: "row" }));
    names.forEach((goal, to) => {
      const cost = costs[from * names.length + to];
      const [text, exact] = cost < 0 ? ["–", "no path"] : [costText(Number(cost.toFixed(1))), costText(cost)];
      const cell = make("td", text, { tabIndex: 0, title: `${name} to ${goal}: ${exact}` });
      ["mouseenter", "focus"].forEach((event) => cell.addEventListener(event, () => look([from, to])));
      ["mouseleave", "blur"].forEach((event) => cell.addEventListener(event, () => look(null)));
      row.append(cell);
    });
    return row;
  });
  host.hidden = names.length === 0;
  host.replaceChildren(...(host.hidden ? [] : [head, ...rows]));
}
