// Plays a search forward and back: what was put on the open list, and what was expanded.

import { cellOf, stream } from "./api.js";

export const OPEN = 1;
export const CLOSED = 2;
const MAX_EVENTS = 200000;
const SECONDS_TO_PLAY = 6;

export class SearchPlayer {
  // `changed()` is called when another moment is shown, `touched(x, y)` for each cell that looks otherwise.
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
    this.width = 0;
    this.states = new Uint8Array(0);
    this.expanded = 0;
  }

  get isLoaded() {
    return this.events.length > 0;
  }

  // Throws what the call fails with.
  async load(query, width, height) {
    this.clear();
    this.width = width;
    const { signal } = this.control;
    const events = [];
    const request = { query, maxEvents: MAX_EVENTS };
    for await (const message of stream("PathService/TraceSearch", request, signal)) {
      for (const event of message.events ?? []) {
        const { x, y } = cellOf(event.cell);
        events.push({
          index: y * width + x,
          state: event.kind === "KIND_EXPANDED" ? CLOSED : OPEN,
          parent: event.parent && cellOf(event.parent),
          g: event.g ?? 0,
          f: event.f ?? 0,
          before: 0,
          parentBefore: undefined,
        });
      }
      if (message.result) {
        this.isTruncated = message.result.truncated ?? false;
        this.version = message.result.answer.version;
      }
    }
    if (signal.aborted) {
      return;
    }
    this.asked = JSON.stringify(query);
    this.events = events;
    this.states = new Uint8Array(width * height);
    this.parents = new Map();
    this.changed();
  }

  // Whether it is the search that an answer to `query` came from.
  isOf(query, answer) {
    const { epoch, revision } = answer.version;
    return this.asked === JSON.stringify(query) && this.version?.revision === revision && this.version.epoch === epoch;
  }

  // The event that was played last.
  get current() {
    return this.events[this.position - 1];
  }

  cellOfEvent(event) {
    return { x: event.index % this.width, y: Math.floor(event.index / this.width) };
  }

  // From the cell of the current event back to the start.
  trail() {
    const trail = [];
    const seen = new Set();
    for (let cell = this.current && this.cellOfEvent(this.current); cell; ) {
      const index = cell.y * this.width + cell.x;
      if (seen.has(index)) {
        break;
      }
      seen.add(index);
      trail.push(cell);
      cell = this.parents.get(index);
    }
    return trail;
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
    event.before = this.states[event.index];
    this.states[event.index] = event.state;
    if (event.state === OPEN) {
      event.parentBefore = this.parents.get(event.index);
      this.parents.set(event.index, event.parent);
    } else {
      ++this.expanded;
    }
    this.#touch(event.index);
  }

  #undo(event) {
    this.states[event.index] = event.before;
    if (event.state === OPEN) {
      this.parents.set(event.index, event.parentBefore);
    } else {
      --this.expanded;
    }
    this.#touch(event.index);
  }

  #touch(index) {
    this.touched(index % this.width, Math.floor(index / this.width));
  }
}
