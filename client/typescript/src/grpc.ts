import { Readable, type Writable } from 'node:stream';
import { type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { Client as Grpc, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { Client, type ClientOptions } from './client.js';
import { WaystarError } from './error.js';
import { StatusSchema } from './messages.js';
import { bearer, type CallOptions, isLoopback, pathOf, type Transport } from './transport.js';

export * from './index.js';

export interface GrpcOptions {
  // Sent with each call. Without `tls`, only to this machine.
  token?: string;
  // Certificates and the key are PEM. `serverName` is the name that the server must prove, if not that of the target.
  tls?: { ca?: Buffer; cert?: Buffer; key?: Buffer; serverName?: string };
  // If true, calls wait within their timeout for a server that can be reached.
  waitForReady?: boolean;
}

// Makes a client that speaks gRPC and connects with its first call. The target is HOST:PORT, unix:PATH, or for several
// servers IP:PORT,IP:PORT or dns:///NAME:PORT.
export function connect(target = 'localhost:7450', options: ClientOptions & GrpcOptions = {}): Client {
  return new Client(new GrpcTransport(target, options), options);
}

export class GrpcTransport implements Transport {
  readonly hasSeveralServers: boolean;
  private readonly client: Grpc;
  private readonly metadata: Metadata;

  constructor(target: string, { token, tls, waitForReady = false }: GrpcOptions = {}) {
    const [scheme] = /^(unix|unix-abstract|ipv4|ipv6|dns):(\/\/\/)?/.exec(target) ?? [''];
    const addresses = target.slice(scheme.length).split(',');
    const isLocal = scheme.startsWith('unix') || addresses.every(isLoopback);
    this.hasSeveralServers = scheme.startsWith('dns') || addresses.length > 1;
    const listScheme = target.startsWith('[') ? 'ipv6:' : 'ipv4:';
    const address = addresses.length > 1 && !scheme ? `${listScheme}${target}` : target;
    this.metadata = new Metadata({ waitForReady });
    if (token !== undefined) this.metadata.set('authorization', bearer(token, isLocal || tls !== undefined));
    const { ca, cert, key, serverName } = tls ?? {};
    // A bare name may have several addresses of one server, which take no turns.
    const policy = this.hasSeveralServers ? 'round_robin' : 'pick_first';
    this.client = new Grpc(address, tls ? credentials.createSsl(ca, key, cert) : credentials.createInsecure(), {
      'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ [policy]: {} }] }),
      // Client retries, as it knows more errors.
      'grpc.enable_retries': 0,
      // A proxy would see the token.
      'grpc.enable_http_proxy': isLocal ? 0 : 1,
      'grpc.max_receive_message_length': 64 << 20,
      // A server that is gone without a word is noticed after another 20 s. It allows a ping each 10 s.
      'grpc.keepalive_time_ms': 30_000,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2000,
      ...(serverName && { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName }),
    });
  }

  unary(method: DescMethod, request: Message, { timeoutMs = Infinity, signal }: CallOptions): Promise<Message> {
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, answer?: Message) => {
        signal?.removeEventListener('abort', cancel);
        if (answer) resolve(answer);
        if (error) reject(fromGrpc(error));
      };
      const deadline = Date.now() + timeoutMs;
      const call = this.client.makeUnaryRequest(...codecOf(method), request, this.metadata, { deadline }, done);
      const cancel = () => call.cancel();
      signal?.addEventListener('abort', cancel);
    });
  }

  async *stream(
    method: DescMethod,
    requests: AsyncIterable<Message>,
    { timeoutMs = Infinity, signal }: CallOptions,
  ): AsyncGenerator<Message> {
    const deadline = Date.now() + timeoutMs;
    const call = this.client.makeBidiStreamRequest(...codecOf(method), this.metadata, { deadline });
    const cancel = () => call.cancel();
    signal?.addEventListener('abort', cancel);
    const source = Readable.from(requests);
    source.on('error', (error) => call.destroy(error));
    // The loop below throws what the call ends with; after the loop, that is our own cancellation.
    call.on('error', () => {});
    source.pipe(call as Writable);
    try {
      yield* call;
    } catch (error) {
      throw error instanceof Error && 'metadata' in error ? fromGrpc(error as ServiceError) : error;
    } finally {
      signal?.removeEventListener('abort', cancel);
      call.cancel();
      source.destroy();
    }
  }

  close(): void {
    this.client.close();
  }
}

function codecOf(method: DescMethod) {
  const write = (message: Message) => Buffer.from(toBinary(method.input, message));
  const read = (bytes: Buffer): Message => fromBinary(method.output, bytes);
  return [pathOf(method), write, read] as const;
}

function fromGrpc({ code, details: message, metadata }: ServiceError): WaystarError {
  const [bytes] = metadata.get('grpc-status-details-bin');
  const { details } = bytes instanceof Buffer ? fromBinary(StatusSchema, bytes) : { details: [] };
  // A server or a proxy closed the connection (grpc-node 2672).
  const isClosed = code === status.INTERNAL && details.length === 0 && message.includes('Session closed');
  return WaystarError.of({ code: isClosed ? status.UNAVAILABLE : code, message, details });
}
