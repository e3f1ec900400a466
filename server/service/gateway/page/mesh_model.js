// A navigation mesh: places on it take the part that cells have on a grid. What they look like the server draws.

import { call, pointOf } from "./api.js";
import { WorldLattice } from "./lattice.js";
import { Model } from "./map_model.js";

// How many steps of the keys lead along that side.
const STEPS = 100;

class MeshLattice extends WorldLattice {
  cellAt(px, py) {
    return this.pointAt(px, py);
  }

  label({ x, y, z, isAloft }) {
    return (isAloft ? [x, y] : [x, y, z]).join(", ");
  }

  // The ground may be higher or lower there.
  move({ x, y, z }, dx, dy) {
    const step = this.size / STEPS;
    return placeAloft(this.round(x + dx * step), this.round(y + dy * step), z);
  }
}

function placeAt(x, y, z) {
  return { id: `${x},${y},${z}`, x, y, z };
}

// A place whose height is not that of the ground, but one from which the ground is looked for.
function placeAloft(x, y, z) {
  return { id: `${x},${y}`, x, y, z, isAloft: true };
}

export class MeshModel extends Model {
  isMesh = true;
  noun = "places";
  options = ["forbiddenTerrains", "requiredTags", "unreachablePolicy"];
  suits = (algorithm) => algorithm === "ALGORITHM_AUTO";
  lattice = new MeshLattice({ x: 0, y: 0, z: 0 }, { x: 1, y: 1, z: 0 });
  // The heights that are shown, if not all of them: from "low" to "high"; without one, all beyond the other.
  heights = undefined;

  // Whether one of these points lies at the heights that are shown, or one between them.
  shows(points) {
    const { low = -Infinity, high = Infinity } = this.heights ?? {};
    const heights = points.map(({ z }) => z);
    return Math.min(...heights) <= high && Math.max(...heights) >= low;
  }

  // Whether it may be on the mesh; more only the server knows.
  at(place) {
    const { low, high } = this.lattice;
    return place && place.x >= low.x && place.x <= high.x && place.y >= low.y && place.y <= high.y ? 1 : 0;
  }

  // A place that the address names, by two numbers or three.
  again(place) {
    if (!place) {
      return null;
    }
    const [x, y, z] = place.id === undefined ? [place.x, place.y] : place.id.split(",").map(Number);
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      return null;
    }
    return Number.isFinite(z) ? placeAt(x, y, z) : this.onFloor({ x, y });
  }

  // The server takes the surface nearest in height: that of the floor that is shown, or the highest there.
  onFloor({ x, y }) {
    const { low, high } = this.heights ?? {};
    const floor = low !== undefined && high !== undefined ? (low + high) / 2 : (high ?? this.lattice.high.z);
    return placeAloft(x, y, Number(floor.toFixed(4)));
  }

  async land(place) {
    if (!place.isAloft) {
      return place;
    }
    const { x, y, z } = place;
    const { results } = await call("PathService/ProbeSurface", { map: this.info.map, probes: [{ position: { x, y, z } }] });
    return results?.[0]?.found ? placeAt(x, y, Number((results[0].start.z ?? 0).toFixed(4)) + 0) : null;
  }

  read(map, signal) {
    return call("MapService/GetMap", { map }, signal);
  }

  load({ info }) {
    const isOther = this.describe(info);
    if (isOther) {
      this.lattice = new MeshLattice(pointOf(info.mesh.low), pointOf(info.mesh.high));
    }
    return isOther;
  }

  locationOf({ x, y, z }) {
    return { position: { x, y, z } };
  }

  pointsOf({ positions = [] }) {
    return positions.map(pointOf);
  }

  // Intervals: { left, right, root }. Only the event that generates one tells more of it than its id.
  searchPlaces() {
    const all = [];
    return {
      get size() {
        return all.length;
      },
      at: (number) => all[number],
      numbersOf({ kind, interval: { id, parent, left, right, root } }) {
        if (kind === "KIND_GENERATED") {
          all[id - 1] = { left: pointOf(left), right: pointOf(right), root: pointOf(root) };
        }
        return [id - 1, parent ? parent - 1 : undefined];
      },
      // Of the way to the middle, seen from above.
      costOf({ g = 0, interval }) {
        const { left, right, root } = all[interval.id - 1];
        return g + Math.hypot((left.x + right.x) / 2 - root.x, (left.y + right.y) / 2 - root.y);
      },
    };
  }

  factsOf(place) {
    return [["at", this.lattice.label(place)]];
  }
}
