// Keeps a model of a map up to date: reads the map, watches it, and starts again when the server was gone.

import { NOT_FOUND, call, needRpcError, pause, stream } from "./api.js";

const FIRST_DELAY = 500;
const LAST_DELAY = 8000;
// A map that changes all the time is read again that often, and no more than a fifth of the time.
const LEAST_MILLIS_BETWEEN_READS = 250;

export class MapFeed {
  // `read(map, signal)` gives what model.load() takes. `events` has map(isNew), revision(), down(error),
  // up() and gone().
  constructor(model, read, events) {
    this.model = model;
    this.read = read;
    this.events = events;
    this.control = new AbortController();
    this.latest = 0;
    this.epoch = "";
    this.recent = [];
    this.isReading = false;
    this.mustRead = false;
    this.isDown = false;
  }

  stop() {
    this.control.abort();
  }

  async run(map) {
    const { signal } = this.control;
    let delay = FIRST_DELAY;
    while (!signal.aborted) {
      try {
        await this.#read(map);
        delay = FIRST_DELAY;
        this.isDown = false;
        this.events.up();
        await this.#watch(map);
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        if (error.code === NOT_FOUND) {
          this.stop();
          this.events.gone(map);
          return;
        }
        needRpcError(error);
        this.isDown = true;
        this.events.down(error);
        await pause(delay, signal);
        delay = Math.min(delay * 2, LAST_DELAY);
      }
    }
  }

  async #watch(map) {
    const { epoch, revision } = this.model;
    const request = { map, after: { epoch, revision: String(revision) }, withEdits: true };
    for await (const message of stream("MapService/WatchMap", request, this.control.signal)) {
      if (message.commit) {
        this.#take(map, message.commit);
      } else if (message.resynchronize) {
        this.#advance(message.resynchronize.version);
        this.#readSoon(map);
      }
    }
  }

  // Revisions only grow within one epoch: those of a map that was created again begin at 1.
  #advance({ epoch, revision }) {
    this.latest = epoch === this.epoch ? Math.max(this.latest, Number(revision)) : Number(revision);
    this.epoch = epoch;
  }

  #take(map, { version, edits, editsOmitted, changedAreas, changedNodes, changedEdges }) {
    // A map that has taken the place of this one was read before the watch has ended.
    if (version.epoch !== this.epoch) {
      return;
    }
    this.latest = Number(version.revision);
    const touched = changedAreas || changedNodes || changedEdges || editsOmitted;
    const isKnown = this.model.apply(edits ?? []) && !editsOmitted;
    if (this.isReading) {
      this.recent.push({ epoch: this.epoch, revision: this.latest, edits: edits ?? [] });
    }
    if (touched && !isKnown) {
      this.#readSoon(map);
    }
    this.events.revision();
  }

  // One at a time.
  async #readSoon(map) {
    this.mustRead = true;
    if (this.isReading) {
      return;
    }
    this.isReading = true;
    const { signal } = this.control;
    while (this.mustRead && !signal.aborted) {
      this.mustRead = false;
      const began = performance.now();
      try {
        await this.#read(map);
      } catch {
        // Whatever keeps the map from being read ends the watch as well, or it passes.
        this.mustRead = true;
      }
      const took = performance.now() - began;
      await pause(Math.max(LEAST_MILLIS_BETWEEN_READS, took * 4), signal);
    }
    this.isReading = false;
    this.recent = [];
  }

  async #read(map) {
    const { signal } = this.control;
    const content = await this.read(map, signal);
    if (signal.aborted) {
      return;
    }
    const isNew = this.model.load(content);
    this.recent = this.recent.filter(
      ({ epoch, revision }) => epoch === this.model.epoch && revision > this.model.revision,
    );
    for (const { edits } of this.recent) {
      this.model.apply(edits);
    }
    this.#advance(this.model);
    this.events.map(isNew);
  }
}

// A grid's description and its text.
export async function readMap(map, signal) {
  let info = null;
  let bytes = new Uint8Array(0);
  let end = 0;
  const request = { map, format: "MAP_FORMAT_TEXT" };
  for await (const { header, chunk } of stream("MapService/ExportMap", request, signal)) {
    if (header) {
      info = header.info;
      bytes = new Uint8Array(Number(header.size));
    } else {
      const text = atob(chunk);
      for (let i = 0; i < text.length; ++i) {
        bytes[end + i] = text.charCodeAt(i);
      }
      end += text.length;
    }
  }
  return { info, bytes };
}

// All pages of a listing.
export async function listAll(method, request, field, signal) {
  const all = [];
  let pageToken = "";
  do {
    const page = await call(method, { ...request, pageToken }, signal);
    all.push(...(page[field] ?? []));
    pageToken = page.nextPageToken ?? "";
  } while (pageToken);
  return all;
}
