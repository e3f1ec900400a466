// The picture of a navigation mesh, which the server draws: of what is in sight, as large as it is shown.

import { needRpcError, oneAtATime, renderMap } from "./api.js";
import { showProblem } from "./panel.js";
import { colorOf, pictureTheme, pixelOf } from "./theme.js";

// The most that the server draws, and the least.
const MOST_PIXELS = 4096;
const LEAST_PIXELS = 16;

export class MeshPicture {
  constructor(app) {
    this.app = app;
    this.forget();
  }

  forget() {
    // Its image and placement.
    this.picture = null;
    this.asked = "";
  }

  // `model` as `view` shows it, with the path of `query` if there is one.
  want(model, view, ratio, isOblique, query) {
    const request = { ...this.#requestFor(model, view, ratio, isOblique), query: query ?? undefined };
    // Another revision is another picture.
    const asked = JSON.stringify([request, model.epoch, model.revision]);
    if (asked !== this.asked) {
      this.asked = asked;
      this.#ask(request, asked);
    }
  }

  // The area in sight, with all heights that may reach into it.
  #requestFor({ info, lattice, heights }, view, ratio, isOblique) {
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
      theme: pictureTheme(),
      heights,
      oblique: isOblique,
    };
  }

  #ask = oneAtATime(async (request, asked) => {
    try {
      const picture = await this.#draw(request);
      if (this.asked === asked) {
        this.picture = picture;
        this.app.pictured(picture.placement);
      }
    } catch (error) {
      needRpcError(error);
      this.asked = "";
      showProblem(error);
    }
  });

  async #draw(request) {
    const { image, placement } = await renderMap(request);
    const bitmap = await createImageBitmap(new Blob([image], { type: "image/png" }));
    return { image: withoutPaper(bitmap), placement };
  }

  // Where it lies now, also while another one is on its way. `context` is in pixels of the page.
  draw(context, lattice, view) {
    if (!this.picture) {
      return;
    }
    const { image, placement } = this.picture;
    const { zero, xStep } = placement;
    const scale = (view.scale * lattice.unit) / xStep.x;
    const [x, y] = view.toScreen(...lattice.center(0, 0, 0));
    const [left, top] = [x - (zero.x ?? 0) * scale, y - (zero.y ?? 0) * scale];
    context.drawImage(image, left, top, image.width * scale, image.height * scale);
  }
}

// Around the mesh, and in its holes, one sees what is drawn below.
function withoutPaper(bitmap) {
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const image = context.getImageData(0, 0, bitmap.width, bitmap.height);
  const pixels = new Uint32Array(image.data.buffer);
  const paper = pixelOf(colorOf("picture-paper"));
  for (let i = 0; i < pixels.length; ++i) {
    if (pixels[i] === paper) {
      pixels[i] = 0;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
