// Plays one search by its events, or two side by side by their expansions, so that both have expanded the same number.

const SECONDS_TO_PLAY = 6;

export class Playback {
  // `players` are SearchPlayers. `changed()` is called when another moment is shown.
  constructor(players, changed) {
    this.all = players;
    this.players = players.slice(0, 1);
    this.changed = changed;
    this.speed = 1;
    this.clear();
  }

  set count(count) {
    this.clear();
    this.players = this.all.slice(0, count);
  }

  get isComparing() {
    return this.players.length > 1;
  }

  get isLoaded() {
    return this.players.some((player) => player.isLoaded);
  }

  // The last moment, in expansions when two searches play, else in events.
  get length() {
    const lengths = this.players.map(({ events, expansions }) => (this.isComparing ? expansions : events).length);
    return Math.max(...lengths);
  }

  clear() {
    this.control?.abort();
    this.control = new AbortController();
    this.isPlaying = false;
    this.position = 0;
    this.all.forEach((player) => player.clear());
  }

  // One query for each player; `placesOf()` makes its places. Returns false if the playback was cleared meanwhile.
  async load(queries, placesOf) {
    this.clear();
    const { signal } = this.control;
    // One after another, so that no more of the server is needed than for one.
    for (const [i, player] of this.players.entries()) {
      await player.load(queries[i], placesOf(), signal);
    }
    // The same colour is the same cost in both.
    const mostCost = Math.max(...this.players.map((player) => player.mostCost));
    this.players.forEach((player) => (player.mostCost = mostCost));
    return !signal.aborted;
  }

  seek(position) {
    this.position = Math.min(Math.max(Math.round(position), 0), this.length);
    for (const player of this.players) {
      player.seek(this.isComparing ? player.momentAfter(this.position) : this.position);
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
    if (this.position === this.length) {
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
      const perSecond = Math.max(this.length / SECONDS_TO_PLAY, 8) * this.speed;
      exact += (Math.min(now - before, 100) / 1000) * perSecond;
      before = now;
      this.seek(exact);
      if (this.position === this.length) {
        this.pause();
      } else {
        requestAnimationFrame(frame);
      }
    };
    requestAnimationFrame(frame);
  }
}
