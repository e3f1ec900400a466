// Calls of the server's RPCs as JSON over HTTP, at the address that served this page.

import { authorization, enterToken } from "./token.js";

export const UNAVAILABLE = 14;
export const NOT_FOUND = 5;
export const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
// How soon a message, or a stream that has ended, is tried again.
const RESEND_MILLIS = 100;
const RETRY_MILLIS = 1000;

export class RpcError extends Error {
  constructor(status) {
    super(status.message || "the call failed");
    this.code = status.code ?? 2;
    const info = (status.details ?? []).find((detail) => detail.reason);
    this.reason = info?.reason ?? "";
    this.field = info?.metadata?.field ?? "";
  }
}

// Throws errors that are not of a call: mistakes of the page.
export function needRpcError(error) {
  if (error.code === undefined) {
    throw error;
  }
}

const NO_TOKEN = 401;

async function post(method, request, signal, headers = {}) {
  for (;;) {
    const token = authorization();
    let response;
    try {
      response = await fetch(`waystar.v1.${method}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...token, ...headers },
        body: request && JSON.stringify(request),
        signal,
      });
    } catch (error) {
      throw signal?.aborted ? error : new RpcError({ code: UNAVAILABLE, message: "the server does not answer" });
    }
    if (response.ok) {
      return response;
    }
    const status = await response.json().catch(() => ({ message: `HTTP ${response.status}` }));
    if (response.status !== NO_TOKEN) {
      throw new RpcError(status);
    }
    await enterToken(token, status.message);
    // Aborted while it waited, the call is not made.
    signal?.throwIfAborted();
  }
}

export async function call(method, request, signal) {
  return (await post(method, request, signal)).json();
}

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

// The messages of a stream, as they come. Throws what the stream fails with. `opened(stream)` gets what send() takes.
export async function* stream(method, request, signal, opened) {
  const response = await post(method, request, signal);
  opened?.(openedBy(response));
  yield* messagesOf(response, signal);
}

// Takes the messages of a stream, and asks for it again when it ends, until `signal` is aborted. `request()` makes each
// first message, or promises it. `events` has message(result), problem(error) and perhaps opened(stream).
export async function follow(method, request, signal, events) {
  while (!signal.aborted) {
    try {
      for await (const message of stream(method, await request(), signal, events.opened)) {
        if (signal.aborted) {
          return;
        }
        events.message(message);
      }
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      needRpcError(error);
      events.problem(error);
    }
    await pause(RETRY_MILLIS, signal);
  }
}

function openedBy(response) {
  return { id: response.headers.get("Waystar-Stream"), sent: 0 };
}

// Sends a further message on an open stream, or that there are no more if `message` is null. What else is wrong, the
// stream tells.
export async function send(method, message, opened, signal) {
  const headers = { "Waystar-Stream": opened.id, "Waystar-Message": ++opened.sent };
  const isTaken = () =>
    post(method, message, signal, headers).catch((error) => {
      needRpcError(error);
      return error.code !== RESOURCE_EXHAUSTED;
    });
  // The message before may not be sent yet.
  while (!(await isTaken())) {
    await pause(RESEND_MILLIS, signal);
  }
}

async function* messagesOf(response, signal) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const broken = new RpcError({ code: UNAVAILABLE, message: "the server has stopped" });
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((error) => {
        throw signal?.aborted ? error : broken;
      });
      if (done) {
        throw broken;
      }
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines.filter((each) => each !== "")) {
        const { result, error } = JSON.parse(line);
        if (error?.code) {
          throw new RpcError(error);
        }
        if (error) {
          return;
        }
        yield result;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// The answer of an RPC that takes a stream of messages. What ends the stream early says its answer.
export async function upload(method, first, messages) {
  const response = await post(method, first);
  const opened = openedBy(response);
  const over = new AbortController();
  const answer = messagesOf(response)
    .next()
    .finally(() => over.abort());
  const sendAll = async () => {
    for await (const message of messages) {
      if (over.signal.aborted) {
        return;
      }
      await send(method, message, opened, over.signal);
    }
    await send(method, null, opened, over.signal);
  };
  const [{ value }] = await Promise.all([answer, sendAll()]);
  return value;
}

// A picture of a map. What is wrong with the query of a path is told by the path, not by the picture.
export async function renderMap(request) {
  const answer = await call("PictureService/RenderMap", request).catch((error) => {
    needRpcError(error);
    if (!request.query) {
      throw error;
    }
    return call("PictureService/RenderMap", { ...request, query: undefined });
  });
  return { ...answer, image: bytesOf(answer.image) };
}

// Returns the bytes of a field, which JSON has in base64.
export function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) {
    bytes[i] = letters.charCodeAt(i);
  }
  return bytes;
}

// A field left out is 0.
export function cellOf(cell) {
  return { x: cell?.x ?? 0, y: cell?.y ?? 0 };
}

export function pointOf(position) {
  return { x: 0, y: 0, z: 0, ...position };
}

// Or the same node: several may lie at one place.
export function sameCell(a, b) {
  return a === b || (a != null && b != null && a.id === b.id && a.x === b.x && a.y === b.y);
}

// Ends early, and without an error, when `signal` is aborted.
export function pause(millis, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, millis);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

// A function that has `work()` done once more, one at a time: the last begins after the last call, for its arguments.
export function oneAtATime(work) {
  let isWorking = false;
  let wanted = null;
  return async (...latest) => {
    wanted = latest;
    if (isWorking) {
      return;
    }
    isWorking = true;
    while (wanted) {
      const each = wanted;
      wanted = null;
      await work(...each);
    }
    isWorking = false;
  };
}
