// Files: maps are made of those that are dropped on the page, and pictures and images of maps are saved.

import { bytesOf, needRpcError, renderMap, stream, upload } from "./api.js";
import { pictureTheme } from "./theme.js";
import { freeName } from "./words.js";

const CHUNK_BYTES = 1 << 20;
const PICTURE_PIXELS = 2048;

async function* chunksOf(file) {
  for (let at = 0; at < file.size; at += CHUNK_BYTES) {
    const bytes = new Uint8Array(await file.slice(at, at + CHUNK_BYTES).arrayBuffer());
    yield { chunk: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")) };
  }
}

// The id of a map for a file of that name.
function idOf(name) {
  const id = name.toLowerCase().replace(/\.[^.]*$/, "").replace(/[^a-z0-9_.-]+/g, "-").replace(/^[_.-]+/, "");
  return id.slice(0, 60) || "map";
}

// Takes files that are dropped on the page or chosen with the button.
export function listenToFiles(app) {
  const take = async (files) => {
    for (const file of files) {
      app.note(`Importing ${file.name} …`, "fair");
      try {
        const map = freeName(idOf(file.name), (name) => app.list.find(name));
        const header = { map, size: String(file.size) };
        app.imported(await upload("MapService/ImportMap", { header }, chunksOf(file)));
      } catch (error) {
        needRpcError(error);
        app.note(`${file.name}: ${error.message}.`);
      }
    }
  };
  const show = (isOver) => document.body.classList.toggle("dropping", isOver);
  const hasFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (hasFiles(event)) {
      event.preventDefault();
      show(true);
    }
  });
  addEventListener("dragleave", (event) => show(event.relatedTarget !== null));
  addEventListener("drop", (event) => {
    show(false);
    if (hasFiles(event)) {
      event.preventDefault();
      take([...event.dataTransfer.files]);
    }
  });
  const input = document.getElementById("import-file");
  document.getElementById("import").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    take([...input.files]);
    input.value = "";
  });
}

function save(name, parts, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// `form` is "PNG" or "SVG".
export async function savePicture(form, request) {
  const size = { maxWidth: PICTURE_PIXELS, maxHeight: PICTURE_PIXELS };
  const look = { theme: pictureTheme(), format: `PICTURE_FORMAT_${form}`, ...size };
  const { image, contentType } = await renderMap({ ...request, ...look });
  save(`${request.map}.${form.toLowerCase()}`, [image], contentType);
}

export async function saveImage(map) {
  const parts = [];
  for await (const { chunk } of stream("MapService/ExportMap", { map, format: "MAP_FORMAT_WAYSTAR" })) {
    parts.push(...(chunk ? [bytesOf(chunk)] : []));
  }
  save(`${map}.waymap`, parts, "application/octet-stream");
}
