// The question that is asked now as others ask it: by the command line tool, as JSON with curl, in Python.

import { authorization } from "./token.js";

const FLAGS = {
  ALGORITHM_ASTAR: "--algorithm astar",
  ALGORITHM_DIJKSTRA: "--algorithm dijkstra",
  ALGORITHM_JUMP_POINT_SEARCH: "--algorithm jump-point",
  ALGORITHM_LAZY_THETA_STAR: "--algorithm lazy-theta",
  ALGORITHM_SUBGOAL_HIERARCHY: "--algorithm hierarchy",
  CORNER_RULE_ONE_SIDE_FREE: "--corner-rule one-free",
  CORNER_RULE_ALWAYS: "--corner-rule always",
  PATH_FORM_SMOOTHED: "--form smoothed",
  UNREACHABLE_POLICY_NEAREST_BY_DISTANCE: "--nearest",
};
// A question need not say these. The corners of a path are only what the page draws it from.
const DEFAULTS = [
  "ALGORITHM_AUTO", "CORNER_RULE_NO_CORNER_CUTTING", "PATH_FORM_CORNERS", "UNREACHABLE_POLICY_REPORT", 1,
];
const grpcAddress = `${location.hostname}:7450`;

// Each makes a text of a FindPathRequest. The ids of maps and nodes need no quotes in a shell.
export const FORMS = { command: commandOf, json: jsonOf, python: pythonOf };

function commandOf({ map, start, goals, agent = {}, ...fields }) {
  const textOf = ({ cell, node, position }) => node ?? Object.values(cell ?? position).join(",");
  const flags = Object.values({ ...fields, ...agent }).flatMap((value) => FLAGS[value] ?? []);
  const footprint = agent.footprint > 1 ? [`--footprint ${agent.footprint}`] : [];
  const places = [start, ...goals].map(textOf);
  // Else a place on the left of zero would be a flag.
  const end = places.some((place) => place.startsWith("-")) ? ["--"] : [];
  return ["waystar find", `--server ${grpcAddress}`, ...flags, ...footprint, ...end, map, ...places].join(" ");
}

function jsonOf(query) {
  const address = new URL("waystar.v1.PathService/FindPath", location.href.split("#")[0]);
  const token = authorization().Authorization ? '-H "Authorization: Bearer $WAYSTAR_TOKEN" ' : "";
  return `curl -s ${address} ${token}-d '${JSON.stringify(withoutDefaults(query))}'`;
}

function pythonOf({ map, start, goals, ...query }) {
  const textOf = ({ cell, node, position }) =>
    node === undefined ? `(${Object.values(cell ?? position).join(", ")})` : JSON.stringify(node);
  const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const valueOf = (value) =>
    typeof value === "object"
      ? `{${Object.entries(value).map(([name, each]) => `"${snake(name)}": ${valueOf(each)}`).join(", ")}}`
      : JSON.stringify(value);
  const fields = Object.entries(withoutDefaults(query)).map(([name, value]) => `${snake(name)}=${valueOf(value)}`);
  const settings = authorization().Authorization ? `, token=os.environ["WAYSTAR_TOKEN"]` : "";
  return `${settings && "import os\n\n"}from waystar import Client

with Client("${grpcAddress}"${settings}) as client:
    answer = client.map(${JSON.stringify(map)}).find_path(
        ${[...[start, ...goals].map(textOf), ...fields].join(",\n        ")},
    )
    print(answer)
`;
}

function withoutDefaults({ agent = {}, ...query }) {
  const without = (fields) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => !DEFAULTS.includes(value)));
  const kept = without(agent);
  return { ...without(query), ...(Object.keys(kept).length > 0 && { agent: kept }) };
}
