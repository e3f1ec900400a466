// A search that can be shown at any moment: what was put on the open list, and what was expanded.

import { needRpcError, stream } from "./api.js";

// A place is OPEN, or has a value from CLOSED to 255 by the cost at which it was expanded.
export const OPEN = 1;
export const CLOSED = 2;
const MAX_EVENTS = 200000;

export class SearchPlayer {
  // `touched(place)` is called for each cell, node or interval that looks otherwise.
  constructor(touched) {
    this.touched = touched;
    this.clear();
  }

  clear() {
    this.isTruncated = false;
    // The question that it is of, or is to be of, the answer of FindPath, and why there is none.
    this.query = null;
    this.answer = null;
    this.problem = "";
    this.events = [];
    // Which of the events expand something.
    this.expansions = [];
    this.places = null;
    this.mostCost = 0;
    this.#rewind();
  }

  #rewind() {
    const size = this.places?.size ?? 0;
    this.position = 0;
    this.expanded = 0;
    // By number of the place: what was done with it last, at which cost so far, and where the way to it comes from.
    this.states = new Uint8Array(size);
    this.costs = new Float32Array(size);
    this.parents = new Map();
  }

  get isLoaded() {
    return this.events.length > 0;
  }

  get isAtEnd() {
    return this.answer !== null && this.position === this.events.length;
  }

  // `places` are the searchPlaces() of a model.
  async load(query, places, signal) {
    this.query = query;
    const events = [];
    const request = { query, maxEvents: MAX_EVENTS };
    let result = null;
    try {
      for await (const message of stream("PictureService/TraceSearch", request, signal)) {
        for (const event of message.events ?? []) {
          const [index, parent] = places.numbersOf(event);
          const state = event.kind === "KIND_EXPANDED" ? CLOSED : OPEN;
          events.push({ index, state, parent, g: places.costOf(event) });
        }
        result = message.result;
      }
    } catch (error) {
      if (!signal.aborted) {
        needRpcError(error);
        this.problem = error.message;
        this.query = null;
      }
      return;
    }
    if (signal.aborted) {
      return;
    }
    this.isTruncated = result.truncated ?? false;
    this.answer = result.answer;
    this.places = places;
    this.events = events;
    this.expansions = [...events.keys()].filter((i) => events[i].state === CLOSED);
    this.#rewind();
    this.mostCost = events.reduce((most, { state, g }) => (state === CLOSED ? Math.max(most, g) : most), 0);
  }

  // Whether it is the search for `query`, or is to be.
  isFor(query) {
    return JSON.stringify(this.query) === JSON.stringify(query);
  }

  // Whether it is the search that an answer to `query` came from.
  isOf(query, answer) {
    const { epoch, revision } = answer.info.version;
    const version = this.answer?.info.version;
    return this.isFor(query) && version?.revision === revision && version.epoch === epoch;
  }

  get current() {
    return this.events[this.position - 1];
  }

  get currentPlace() {
    return this.current && this.places.at(this.current.index);
  }

  // From the place of the current event back to the start.
  trail() {
    const seen = new Set();
    for (let index = this.current?.index; index !== undefined && !seen.has(index); index = this.parents.get(index)) {
      seen.add(index);
    }
    return [...seen].map((index) => this.places.at(index));
  }

  // The places that were reached so far, with the cost so far as a share of the most at which one is expanded.
  *reached() {
    for (let index = 0; index < this.states.length; ++index) {
      if (this.states[index] !== 0) {
        const parent = this.parents.get(index);
        yield {
          place: this.places.at(index),
          parent: parent === undefined ? null : this.places.at(parent),
          isExpanded: this.states[index] >= CLOSED,
          share: this.costs[index] / (this.mostCost || 1),
        };
      }
    }
  }

  // Goes back by playing again from the start.
  seek(position) {
    const goal = Math.min(Math.max(Math.round(position), 0), this.events.length);
    if (goal < this.position) {
      this.#rewind();
    }
    while (this.position < goal) {
      this.#apply(this.events[this.position++]);
    }
  }

  // After so many expansions, and all that the last of them puts on the open list.
  momentAfter(expansions) {
    return this.expansions[expansions] ?? this.events.length;
  }

  #apply({ index, state, g, parent }) {
    if (state === OPEN) {
      this.states[index] = OPEN;
      this.parents.set(index, parent);
    } else {
      this.states[index] = CLOSED + Math.round(((255 - CLOSED) * g) / (this.mostCost || 1));
      ++this.expanded;
    }
    this.costs[index] = g;
    this.touched(this.places.at(index));
  }
}
