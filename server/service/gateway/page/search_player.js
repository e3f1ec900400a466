// Plays a search forward and back: what was put on the open list, and what was expanded.

import { stream } from "./api.js";

export const OPEN = 1;
export const CLOSED = 2;
const MAX_EVENTS = 200000;
const SECONDS_TO_PLAY = 6;

export class SearchPlayer {
  // `changed()` is called when another moment is shown, `touched(place)` for each cell,
  // node or interval that looks otherwise.
  constructor(changed, touched) {
    this.changed = changed;
    this.touched = touched;
    this.speed = 1;
    this.clear();
  }

  clear() {
    this.control?.abort();
    this.control = new AbortController();
    this.isPlaying = false;
    this.isTruncated = false;
    this.asked = "";
    this.version = null;
    this.events = [];
    this.position = 0;
    this.places = null;
    // By number of the place: what was done with it last, at which cost so far, and where the way to it comes from.
    this.states = new Uint8Array(0);
    this.costs = new Float64Array(0);
    this.parents = new Map();
    this.expanded = 0;
    this.mostCost = 0;
  }

  get isLoaded() {
    return this.events.length > 0;
  }

  get isAtEnd() {
    return this.isLoaded && this.position === this.events.length;
  }

  // `places` are CellPlaces, NodePlaces or IntervalPlaces. Throws what the call fails with.
  async load(query, places) {
    this.clear();
    const { signal } = this.control;
    const events = [];
    const request = { query, maxEvents: MAX_EVENTS };
    for await (const message of stream("PictureService/TraceSearch", request, signal)) {
      for (const event of message.events ?? []) {
        const [index, parent] = places.numbersOf(event);
        const state = event.kind === "KIND_EXPANDED" ? CLOSED : OPEN;
        events.push({ index, state, parent, g: places.costOf(event), f: event.f ?? 0, before: null });
      }
      if (message.result) {
        this.isTruncated = message.result.truncated ?? false;
        this.version = message.result.answer.info.version;
      }
    }
    if (signal.aborted) {
      return;
    }
    this.asked = JSON.stringify(query);
    this.places = places;
    this.events = events;
    this.states = new Uint8Array(places.size);
    this.costs = new Float64Array(places.size);
    this.mostCost = events.reduce((most, { state, g }) => (state === CLOSED ? Math.max(most, g) : most), 0);
    this.changed();
  }

  // Whether it is the search that an answer to `query` came from.
  isOf(query, answer) {
    const { epoch, revision } = answer.info.version;
    return this.asked === JSON.stringify(query) && this.version?.revision === revision && this.version.epoch === epoch;
  }

  // The event that was played last.
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
          isExpanded: this.states[index] === CLOSED,
          share: this.costs[index] / (this.mostCost || 1),
        };
      }
    }
  }

  seek(position) {
    const goal = Math.min(Math.max(Math.round(position), 0), this.events.length);
    while (this.position < goal) {
      this.#apply(this.events[this.position++]);
    }
    while (this.position > goal) {
      this.#undo(this.events[--this.position]);
    }
    this.changed();
  }

  step(by) {
    this.pause();
    this.seek(this.position + by);
  }

  toggle() {
    if (this.isPlaying) {
      this.pause();
    } else if (this.isLoaded) {
      this.#play();
    }
  }

  pause() {
    this.isPlaying = false;
    this.changed();
  }

  #play() {
    if (this.position === this.events.length) {
      this.seek(0);
    }
    this.isPlaying = true;
    const { signal } = this.control;
    let before = performance.now();
    let exact = this.position;
    const frame = (now) => {
      if (!this.isPlaying || signal.aborted) {
        return;
      }
      const perSecond = Math.max(this.events.length / SECONDS_TO_PLAY, 8) * this.speed;
      exact += (Math.min(now - before, 100) / 1000) * perSecond;
      before = now;
      this.seek(exact);
      if (this.position === this.events.length) {
        this.pause();
      } else {
        requestAnimationFrame(frame);
      }
    };
    requestAnimationFrame(frame);
  }

  #apply(event) {
    const { index, state, g, parent } = event;
    event.before = { state: this.states[index], cost: this.costs[index], parent: this.parents.get(index) };
    this.#set(index, { state, cost: g, parent: state === OPEN ? parent : event.before.parent });
    this.expanded += state === CLOSED ? 1 : 0;
  }

  #undo({ index, state, before }) {
    this.#set(index, before);
    this.expanded -= state === CLOSED ? 1 : 0;
  }

  #set(index, { state, cost, parent }) {
    this.states[index] = state;
    this.costs[index] = cost;
    this.parents.set(index, parent);
    this.touched(this.places.at(index));
  }
}
