import { create, createRegistry, type MessageInitShape } from '@bufbuild/protobuf';
import { anyUnpack, durationMs } from '@bufbuild/protobuf/wkt';
import * as v1 from './messages.js';

// The index of each is its number.
const CODES = [
  'OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS',
  'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED',
  'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED',
] as const;

export type Code = (typeof CODES)[number];

// A name of ErrorReason. Later servers may have more.
export type Reason = keyof typeof v1.ErrorReason | (string & {});

// The types of the details of errors, for JSON.
export const ERROR_DETAILS = createRegistry(v1.file_google_rpc_error_details);

// A failed call, or the problem of an agent or a query. `reason` and `field` are empty if the server gave none;
// `retryDelayMs` is 0 unless the server says when to try again.
export class WaystarError extends Error {
  override readonly name = 'WaystarError';

  constructor(
    readonly code: Code,
    message: string,
    readonly reason: Reason = '',
    readonly field = '',
    readonly retryDelayMs = 0,
  ) {
    super(message);
  }

  // Reads a google.rpc.Status.
  static of(init: MessageInitShape<typeof v1.StatusSchema>): WaystarError {
    const { code, message, details } = create(v1.StatusSchema, init);
    const infos = details.map((detail) => anyUnpack(detail, v1.ErrorInfoSchema));
    const info = infos.find((each) => each?.domain === 'waystar');
    const delay = details.map((detail) => anyUnpack(detail, v1.RetryInfoSchema)?.retryDelay).find(Boolean);
    const delayMs = delay && durationMs(delay);
    return new WaystarError(CODES[code] ?? 'UNKNOWN', message, info?.reason, info?.metadata['field'], delayMs);
  }

  // True if a call that may be repeated may succeed soon: no server was reached, or the server asks to wait.
  get isRetryable(): boolean {
    const isBusy = this.code === 'RESOURCE_EXHAUSTED' && this.retryDelayMs > 0;
    return isBusy || this.code === 'UNAVAILABLE' || this.code === 'CANCELLED';
  }

  // True if a stream that ended so may be opened again.
  get mayPass(): boolean {
    return /^(CANCELLED|RESOURCE_EXHAUSTED|ABORTED|INTERNAL|UNAVAILABLE|UNKNOWN)$/.test(this.code);
  }
}
