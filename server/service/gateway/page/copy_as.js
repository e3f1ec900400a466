// The question that is asked now as others ask it: by the command line tool, as JSON with curl, in Python and in C#.

import { authorization } from "./token.js";

const COMMANDS = {
  FindPath: "find", ExplainPath: "explain", FindReachable: "reach", ComputeFlowField: "flow",
  ComputeCostMatrix: "matrix", SamplePlaces: "sample", CastRay: "ray",
};
// The options of the tool, by the value or the name of a field.
const FLAGS = {
  ALGORITHM_ASTAR: "--algorithm=astar",
  ALGORITHM_DIJKSTRA: "--algorithm=dijkstra",
  ALGORITHM_JUMP_POINT_SEARCH: "--algorithm=jump-point",
  ALGORITHM_LAZY_THETA_STAR: "--algorithm=lazy-theta",
  ALGORITHM_SUBGOAL_HIERARCHY: "--algorithm=hierarchy",
  CORNER_RULE_ONE_SIDE_FREE: "--corner-rule=one-free",
  CORNER_RULE_ALWAYS: "--corner-rule=always",
  PATH_FORM_SMOOTHED: "--form=smoothed",
  UNREACHABLE_POLICY_NEAREST_BY_DISTANCE: "--nearest",
  distinct: "--distinct",
  forbiddenTerrains: "--avoid",
  footprint: "--footprint",
  profileName: "--profile",
  requiredTags: "--require-tag",
  blockedNodes: "--block-node",
  maxCost: "--max-cost",
  count: "--count",
  seed: "--seed",
  reachableFrom: "--reachable-from",
};
// A question need not say these. The corners of a path are only what the page draws it from.
const DEFAULTS = [
  undefined, "ALGORITHM_AUTO", "CORNER_RULE_NO_CORNER_CUTTING", "PATH_FORM_CORNERS", "UNREACHABLE_POLICY_REPORT",
];
// The C# types of fields that are not called like them.
const TYPES = {
  profile: "MovementProfile", blocked: "Shape", rectangles: "Rectangle", polygons: "Polygon", vertices: "Point",
};
const grpcAddress = `${location.hostname}:7450`;

// Each makes a text of a request to a method of PathService. A link may bring words that a shell would take for more.
export const FORMS = { command: commandOf, json: jsonOf, python: pythonOf, csharp: csharpOf };

function commandOf(method, { map, start, goal, from, to, starts, goals = [], agent, view, ...fields }) {
  const textOf = (place) => place.node ?? Object.values(place.cell ?? place.position).join(",");
  const { blocked = {}, blockedNodes } = view?.overlay ?? {};
  const { profile, ...moving } = agent ?? {};
  const all = Object.entries(withoutDefaults({ ...fields, ...moving, ...profile, blockedNodes }));
  const flags = all.flatMap(([name, value]) => {
    const flag = FLAGS[value] ?? FLAGS[name];
    const valueText = (each) => (typeof each === "object" ? textOf(each) : each);
    return FLAGS[value] || value === true ? (flag ?? []) : [value].flat().map((each) => `${flag}=${valueText(each)}`);
  });
  const areas = [
    ...(blocked.rectangles ?? []).map(({ x, y, width, height }) => `${x},${y}+${width}x${height}`),
    ...(blocked.polygons ?? []).map(({ vertices }) => `polygon:${vertices.map(({ x, y }) => `${x},${y}`).join("..")}`),
  ].map((area) => `--block=${area}`);
  const ends = [start ?? from, goal ?? to, ...goals].filter(Boolean).map(textOf);
  const places = starts ? [] : ends;
  const pairs = starts ? [...starts.map((each) => `--from=${textOf(each)}`), ...ends.map((each) => `--to=${each}`)] : [];
  const words = [...flags, ...areas, ...pairs];
  // Else a flag may take a place for another value of its own, or a place on the left of zero would be a flag.
  const end = words.length > 0 || places.some((place) => place.startsWith("-")) ? ["--"] : [];
  return ["waystar", COMMANDS[method], "--server", grpcAddress, ...words, ...end, map, ...places].map(quoted).join(" ");
}

// One word of a shell.
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function jsonOf(method, request) {
  const address = new URL(`waystar.v1.PathService/${method}`, location.href.split("#")[0]);
  const token = authorization().Authorization ? '-H "Authorization: Bearer $WAYSTAR_TOKEN" ' : "";
  return `curl -s ${address} ${token}-d ${quoted(JSON.stringify(withoutDefaults(request)))}`;
}

function pythonOf(method, request) {
  const { map, start, goals, ...query } = withoutDefaults(request);
  const textOf = ({ cell, node, position }) =>
    node === undefined ? `(${Object.values(cell ?? position).join(", ")})` : JSON.stringify(node);
  const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const valueOf = (value) =>
    Array.isArray(value)
      ? `[${value.map(valueOf).join(", ")}]`
      : typeof value === "object"
        ? `{${Object.entries(value).map(([name, each]) => `"${snake(name)}": ${valueOf(each)}`).join(", ")}}`
        : JSON.stringify(value);
  const settings = authorization().Authorization ? `, token=os.environ["WAYSTAR_TOKEN"]` : "";
  const begin = settings && "import os\n\n";
  const opening = `with Client("${grpcAddress}"${settings}) as client:`;
  if (method !== "FindPath") {
    return `${begin}from google.protobuf import json_format
from waystar import Client, messages

request = '${JSON.stringify(withoutDefaults(request)).replace(/[\\']/g, "\\$&")}'
${opening}
    answer = client.call(json_format.Parse(request, messages.${method}Request()))
    print(answer)
`;
  }
  const goal = goals.length > 1 ? `[${goals.map(textOf).join(", ")}]` : textOf(goals[0]);
  const fields = Object.entries(query).map(([name, value]) => `${snake(name)}=${valueOf(value)}`);
  return `${begin}from waystar import Client

${opening}
    answer = client.map(${JSON.stringify(map)}).find_path(
        ${[textOf(start), goal, ...fields].join(",\n        ")},
    )
    print(answer)
`;
}

function csharpOf(method, request) {
  const pascal = (name) => name[0].toUpperCase() + name.slice(1);
  const decimal = (number) => (Number.isInteger(number) ? number.toFixed(1) : String(number));
  const valueOf = (name, value) => {
    if (Array.isArray(value)) {
      return `{ ${value.map((each) => valueOf(name, each)).join(", ")} }`;
    }
    if (value.cell || value.position) {
      return `(${(value.cell ? Object.values(value.cell) : Object.values(value.position).map(decimal)).join(", ")})`;
    }
    if (typeof value === "object") {
      return value.node ? JSON.stringify(value.node) : `new ${TYPES[name] ?? pascal(name)} { ${linesOf(value).join(", ")} }`;
    }
    // An enum has the name of its field, and its values begin with it.
    const prefix = `${name.replace(/[A-Z]/g, "_$&").toUpperCase()}_`;
    return String(value).startsWith(prefix)
      ? `${pascal(name)}.${value.slice(prefix.length).split("_").map((word) => pascal(word.toLowerCase())).join("")}`
      : JSON.stringify(value);
  };
  const linesOf = (fields) => Object.entries(fields).map(([name, value]) => `${pascal(name)} = ${valueOf(name, value)}`);
  const token = authorization().Authorization ? `, Token = Environment.GetEnvironmentVariable("WAYSTAR_TOKEN")` : "";
  return `using System;
using Waystar;
using Waystar.V1;

using (var client = new Client(new ClientOptions { Target = "${location.origin}"${token} })) {
  var answer = await client.CallAsync(PathService.${method}, new ${method}Request {
    ${linesOf(withoutDefaults(request)).join(",\n    ")},
  });
}
`;
}

// Fields of messages that have nothing left are not there either.
function withoutDefaults(fields) {
  const kept = Object.entries(fields).flatMap(([name, value]) => {
    const isMessage = value && typeof value === "object" && !Array.isArray(value);
    const rest = isMessage ? withoutDefaults(value) : value;
    const isDefault = DEFAULTS.includes(value) || (name === "footprint" && value === 1);
    return isDefault || (isMessage && Object.keys(rest).length === 0) ? [] : [[name, rest]];
  });
  return Object.fromEntries(kept);
}
