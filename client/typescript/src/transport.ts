import type { DescMethod, Message } from '@bufbuild/protobuf';

export interface CallOptions {
  // How long the call may take in all, retries included. Calls with one answer take a day at most.
  timeoutMs?: number;
  // Its abortion cancels the call.
  signal?: AbortSignal | undefined;
}

// Servers take no longer timeout by HTTP, and timers none beyond 24 days.
export const MAX_TIMEOUT_MS = 24 * 3_600_000;

// A way to call servers. It retries nothing, and without `timeoutMs` sets no deadline. All failures are WaystarErrors:
// UNAVAILABLE if no server is reached, CANCELLED after an abortion.
export interface Transport {
  // True if calls may reach one server or another.
  readonly hasSeveralServers: boolean;

  unary(method: DescMethod, request: Message, options: CallOptions): Promise<Message>;

  // Opens a stream when it is read, and cancels it when its reader leaves. A request is taken when it can be sent; the
  // end of the requests half-closes the stream.
  stream(method: DescMethod, requests: AsyncIterable<Message>, options: CallOptions): AsyncIterable<Message>;

  close?(): void;
}

export const pathOf = ({ parent, name }: DescMethod): string => `/${parent.typeName}/${name}`;

// Returns true for HOST or HOST:PORT of this machine.
export const isLoopback = (address: string): boolean =>
  /^(localhost|\[::1\]|127(\.\d+){3})(:\d+)?$/i.test(address);

// Returns the value of the authorization header. Throws if the token must not be sent.
export function bearer(token: string, isPrivate: boolean): string {
  if (!isPrivate) throw new TypeError('a token is not sent to another machine unencrypted: use TLS');
  if (!/^[!-~]+$/.test(token)) throw new TypeError('the token has a character that is not visible ASCII');
  return `Bearer ${token}`;
}
