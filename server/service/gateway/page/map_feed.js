// Keeps a model of a map up to date: reads the map, watches it, and starts again when the server was gone.

import { NOT_FOUND, follow, oneAtATime, pause } from "./api.js";

// A map that changes all the time is read again that often, and no more than a fifth of the time.
const LEAST_MILLIS_BETWEEN_READS = 250;

export class MapFeed {
  // `events` has map(isNew), revision(changedAreas), down(error), up() and gone().
  constructor(map, model, events) {
    this.map = map;
    this.model = model;
    this.events = events;
    this.control = new AbortController();
    this.latest = 0;
    this.epoch = "";
    this.recent = [];
    this.isReading = false;
    this.isDown = false;
  }

  stop() {
    this.control.abort();
  }

  async run() {
    const { signal } = this.control;
    const request = async () => {
      await this.#read();
      this.isDown = false;
      this.events.up();
      const { epoch, revision } = this.model;
      return { map: this.map, after: { epoch, revision: String(revision) }, withEdits: true };
    };
    await follow("MapService/WatchMap", request, signal, {
      message: ({ commit, resynchronize }) => {
        if (commit) {
          this.#take(commit);
        } else if (resynchronize) {
          this.#advance(resynchronize.version);
          this.#readSoon();
        }
      },
      problem: (error) => this.#fail(error),
    });
  }

  #fail(error) {
    if (error.code === NOT_FOUND) {
      this.stop();
      this.events.gone();
    } else {
      this.isDown = true;
      this.events.down(error);
    }
  }

  // Revisions only grow within one epoch: those of a map that was created again begin at 1.
  #advance({ epoch, revision }) {
    this.latest = epoch === this.epoch ? Math.max(this.latest, Number(revision)) : Number(revision);
    this.epoch = epoch;
  }

  #take({ version, edits, editsOmitted, changedAreas, changedNodes, changedEdges }) {
    // A map that has taken the place of this one was read before the watch has ended.
    if (version.epoch !== this.epoch) {
      return;
    }
    this.latest = Number(version.revision);
    // The picture of a mesh has portals, too.
    const touched = this.model.isMesh || changedAreas || changedNodes || changedEdges || editsOmitted;
    const isKnown = this.model.apply(edits ?? []) && !editsOmitted;
    if (this.isReading) {
      this.recent.push({ epoch: this.epoch, revision: this.latest, edits: edits ?? [] });
    }
    if (touched && !isKnown) {
      this.#readSoon();
    }
    this.events.revision(changedAreas ?? []);
  }

  #readSoon = oneAtATime(async () => {
    const { signal } = this.control;
    if (signal.aborted) {
      return;
    }
    this.isReading = true;
    const began = performance.now();
    // Whatever keeps the map from being read ends the watch as well, or it passes.
    await this.#read().catch(() => this.#readSoon());
    const took = performance.now() - began;
    await pause(Math.max(LEAST_MILLIS_BETWEEN_READS, took * 4), signal);
    this.isReading = false;
    this.recent = [];
  });

  async #read() {
    const { signal } = this.control;
    const content = await this.model.read(this.map, signal);
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
