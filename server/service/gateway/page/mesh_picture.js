// The picture of a navigation mesh, which the server draws: of what is in sight, as large as it is shown.

import { call, needRpcError } from "./api.js";
import { isDark } from "./theme.js";

// The most that the server draws, and the least.
const MOST_PIXELS = 4096;
const LEAST_PIXELS = 16;

export class MeshPicture {
  // `events` has drawn(placement) and problem(error).
  constructor(events) {
    this.events = events;
    this.forget();
  }

  forget() {
    this.image = null;
    this.placement = null;
    this.asked = "";
    this.wanted = null;
  }

  // `model` as `view` shows it. Seen from the side or at some heights, the path of `query` is drawn by the server too,
  // since it knows what is hidden, or lies at others.
  want(model, view, ratio, isOblique, query) {
    const request = this.#requestFor(model, view, ratio, isOblique);
    if (query && (isOblique || model.hasHeights)) {
      request.query = query;
    }
    // Another revision is another picture.
    const asked = JSON.stringify([request, model.epoch, model.revision]);
    if (asked !== this.asked) {
      this.asked = asked;
      this.wanted = request;
      this.#ask();
    }
  }

  // The area in sight, with all heights that may reach into it.
  #requestFor({ info, lattice, heights, hasHeights }, view, ratio, isOblique) {
    const { low, high, unit, depth, rise } = lattice;
    const [left, top] = view.toMap(0, 0).map((each) => each / unit);
    const [right, bottom] = view.toMap(view.width, view.height).map((each) => each / unit);
    const range = (high.z - low.z) * rise;
    const margin = lattice.size * 0.05;
    const x = Math.max(left, -margin) + low.x;
    const y = Math.max(top / depth, -margin) + low.y;
    const width = Math.min(right + low.x, high.x + margin) - x;
    const height = Math.min((bottom + range) / depth + low.y, high.y + margin) - y;
    const pixels = view.scale * unit * ratio;
    const side = (length) => Math.min(Math.max(Math.ceil(length * pixels), LEAST_PIXELS), MOST_PIXELS);
    return {
      map: info.map,
      area: { x, y, width: Math.max(width, 1e-6), height: Math.max(height, 1e-6) },
      maxWidth: side(width),
      maxHeight: side(height * depth + range),
      legend: false,
      labels: false,
      theme: isDark() ? "PICTURE_THEME_DARK" : "PICTURE_THEME_LIGHT",
      ...(hasHeights ? { heights } : {}),
      ...(isOblique ? { oblique: true } : {}),
    };
  }

  // One at a time, and the latest only.
  async #ask() {
    if (this.isAsking) {
      return;
    }
    this.isAsking = true;
    while (this.wanted) {
      const request = this.wanted;
      this.wanted = null;
      try {
        const { image, placement } = await this.#draw(request);
        if (this.asked && !this.wanted) {
          this.image = image;
          this.placement = placement;
          this.events.drawn(placement);
        }
      } catch (error) {
        needRpcError(error);
        this.asked = "";
        this.events.problem(error);
      }
    }
    this.isAsking = false;
  }

  // What is wrong with the query is told by the path, not by the picture.
  async #draw(request) {
    const answer = await call("PictureService/RenderMap", request).catch((error) => {
      if (!request.query || error.code === undefined) {
        throw error;
      }
      return call("PictureService/RenderMap", { ...request, query: undefined });
    });
    const bytes = Uint8Array.from(atob(answer.image), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    return { image, placement: answer.placement };
  }

  // Where it lies now, also while another one is on its way. `context` is in pixels of the page.
  draw(context, lattice, view) {
    if (!this.image) {
      return;
    }
    const { zero, xStep } = this.placement;
    const scale = (view.scale * lattice.unit) / xStep.x;
    const [x, y] = view.toScreen(...lattice.center(0, 0, 0));
    const { width, height } = this.image;
    context.drawImage(this.image, x - (zero.x ?? 0) * scale, y - (zero.y ?? 0) * scale, width * scale, height * scale);
  }
}
