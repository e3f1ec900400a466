import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { EventEmitter, on } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { create, type Message, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type AgentChange,
  block,
  Client,
  connect,
  durationFromMs,
  type FollowAgentsRequest,
  FollowAgentsResponseSchema,
  Outcome,
  rect,
  type Transport,
  unblock,
  type UpdateMapRequest,
  WaystarError,
} from '@waystar/client';
import { connect as connectHttp } from '@waystar/client/http';
import { newToken, Server, TRANSPORTS, until } from './server.js';

const ROWS = ['........', '........', '........', '........'];
const WALL = rect(3, 0, 1, 3);

const hasCode = (code: string) => (error: unknown) => error instanceof WaystarError && error.code === code;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const servers: Server[] = [];

async function startServer(flags: (work: string) => string[] = () => []): Promise<Server> {
  const server = new Server(flags);
  servers.push(server);
  await server.start();
  return server;
}

const withData = (work: string) => [`--data_dir=${join(work, 'data')}`];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

for (const transport of TRANSPORTS) {
  describe(`faults by ${transport}`, () => {
    test('a killed server, started again, is found again by all streams', async () => {
      const server = await startServer(withData);
      const client = server.connect(transport);
      const map = await client.createMap('arena', ROWS);
      const agents = client.followAgents({ atMostEvery: durationFromMs(0) });
      agents.put(7, 'arena', [0, 0], [7, 0]);
      agents.flush();
      await until(() => agents.takeNews().includes(7));
      agents.moveTo(7, [1, 0]);
      const paths = client.pathStream();
      await paths.findPath('arena', [0, 0], [7, 0]);
      const watch = map.watch();
      assert.equal((await watch.next()).value?.case, 'watching');

      await server.stop('SIGKILL');
      await assert.rejects(map.info(), hasCode('UNAVAILABLE'));
      const asked = paths.findPath('arena', [0, 0], [7, 0]).catch(() => undefined);
      await server.start();
      await until(() => map.findPath([0, 0], [7, 0]).catch(() => undefined));
      await asked;
      assert.equal((await paths.findPath('arena', [0, 0], [7, 0])).cost, 7);

      // The path that the agent has is held: no news, and it goes on from its place.
      await until(() => agents.progressOf('arena'));
      assert.deepEqual(agents.takeNews(), []);
      await map.update([block(WALL)]);
      const event = await watch.next();
      assert.equal(event.value?.case, 'commit');
      assert.equal(event.value?.value.version?.revision, 2n);
      await until(() => agents.find(7)?.answer?.path?.points[0]?.x === 1);
      await watch.return(undefined);
    });

    test('a replaced map is read again', async () => {
      // Without a data folder, a server that starts again makes its maps again.
      const server = await startServer((work) => {
        mkdirSync(join(work, 'maps'), { recursive: true });
        writeFileSync(join(work, 'maps', 'arena.txt'), ROWS.join('\n'));
        return [`--maps_dir=${join(work, 'maps')}`];
      });
      const client = server.connect(transport);
      const map = client.map('arena');
      await map.update([block(WALL)]);
      const agents = client.followAgents({ atMostEvery: durationFromMs(0) });
      agents.put(7, 'arena', [0, 0], [7, 0]);
      agents.flush();
      await until(() => agents.takeNews().includes(7));
      const watch = map.watch();
      await watch.next();

      await server.stop('SIGTERM');
      await server.start();
      await until(() => map.findPath([0, 0], [7, 0]).catch(() => undefined));
      await until(() => {
        agents.flush();
        return agents.find(7)?.answer?.cost === 7;
      });
      assert.equal((await watch.next()).value?.case, 'resynchronize');
    });

    test('a map that is deleted and made again is another one', async () => {
      const server = await startServer();
      const client = server.connect(transport);
      const map = await client.createMap('arena', ROWS);
      await map.update([block(WALL)]);
      const agents = client.followAgents({ atMostEvery: durationFromMs(0) });
      agents.put(7, 'arena', [0, 0], [7, 0]);
      agents.flush();
      await until(() => agents.takeNews().includes(7));
      const watch = map.watch();
      await watch.next();

      await map.delete();
      await client.createMap('arena', ROWS);
      await until(() => agents.find(7)?.problem);
      assert.match(agents.find(7)?.problem?.reason ?? '', /MAP_NOT_FOUND|MAP_REPLACED/);
      agents.put(7, 'arena', [0, 0], [7, 0]);
      agents.flush();
      await until(() => agents.find(7)?.answer?.cost === 7);
      assert.equal((await watch.next()).value?.case, 'resynchronize');
    });

    test('a wrong token is refused, and ends streams', async () => {
      let token = '';
      const server = await startServer((work) => {
        token = newToken(join(work, 'tokens'), 'game', 'admin:*');
        return [`--tokens_file=${join(work, 'tokens')}`];
      });
      const client = server.connect(transport, { token });
      const map = await client.createMap('arena', ROWS);
      assert.equal((await map.findPath([0, 0], [7, 0])).cost, 7);

      const stranger = server.connect(transport, { token: `${token}x` });
      await assert.rejects(stranger.map('arena').info(), hasCode('UNAUTHENTICATED'));
      await assert.rejects(stranger.map('arena').watch().next(), hasCode('UNAUTHENTICATED'));
      const agents = stranger.followAgents();
      await until(() => agents.error);
      assert.equal(agents.error?.code, 'UNAUTHENTICATED');
      await assert.rejects(stranger.pathStream().findPath('arena', [0, 0], [7, 0]), hasCode('UNAUTHENTICATED'));
    });

    test('a server that does not answer makes no call late', async () => {
      const server = await startServer();
      const client = server.connect(transport);
      const map = await client.createMap('arena', ROWS);
      const paths = client.pathStream();
      await paths.findPath('arena', [0, 0], [7, 0]);

      await server.freeze();
      await assert.rejects(map.findPath([0, 0], [7, 0], { timeoutMs: 50 }), hasCode('DEADLINE_EXCEEDED'));
      await assert.rejects(paths.findPath('arena', [0, 0], [7, 0], { timeoutMs: 50 }), hasCode('DEADLINE_EXCEEDED'));
      const late = assert.rejects(map.findPath([0, 0], [7, 0], { timeoutMs: 200 }), hasCode('DEADLINE_EXCEEDED'));
      for (let i = 0; i < 3; i++) {
        await setImmediate();
        collectGarbage();
      }
      await late;
      const aborted = new AbortController();
      const call = map.update([unblock(WALL)], { signal: aborted.signal });
      aborted.abort();
      await assert.rejects(call, hasCode('CANCELLED'));
      await assert.rejects(map.info({ signal: aborted.signal }), hasCode('CANCELLED'));
      server.thaw();
      assert.equal((await map.findPath([0, 0], [7, 0])).cost, 7);
    });
  });
}

// A transport whose calls fail with these errors, one after the other, before they succeed.
function failing(...errors: WaystarError[]): Transport & { calls: unknown[] } {
  const calls: unknown[] = [];
  return {
    calls,
    hasSeveralServers: false,
    unary: async (_method, request) => {
      calls.push(request);
      const error = errors.shift();
      if (error) {
        throw error;
      }
      return {} as never;
    },
    stream: () => assert.fail(),
    close: () => {},
  };
}

// A transport whose streams the test answers, and ends with an error.
class Scripted implements Transport {
  readonly hasSeveralServers = false;
  readonly unary = () => assert.fail();
  // The changes that the newest stream was asked for.
  changes: AgentChange[] = [];
  private readonly answers = new EventEmitter();

  async *stream(_method: unknown, requests: AsyncIterable<Message>) {
    this.changes = [];
    const answers = on(this.answers, 'answer');
    void this.read(requests);
    for await (const [answer] of answers) {
      if (answer instanceof WaystarError) throw answer;
      yield create(FollowAgentsResponseSchema, answer);
    }
  }

  answer(answer: MessageInitShape<typeof FollowAgentsResponseSchema> | WaystarError): void {
    this.answers.emit('answer', answer);
  }

  private async read(requests: AsyncIterable<Message>): Promise<void> {
    for await (const request of requests) {
      this.changes.push(...(request as FollowAgentsRequest).changes);
    }
  }
}

describe('followed agents', () => {
  // Returns the changes as text: what is done with whom, and where that is.
  const textOf = (changes: AgentChange[]) =>
    changes.map(({ agent, change }) => {
      const location = change.case === 'put' ? change.value.start : change.value;
      return `${change.case} ${agent} ${JSON.stringify(location, ['place', 'value', 'x', 'y'])}`;
    });
  const at = (x: number) => JSON.stringify({ place: { value: { x, y: 0 } } });

  test('are put again after a lost stream, and moved before its first state', async () => {
    const transport = new Scripted();
    const agents = new Client(transport).followAgents();
    agents.put(7, 'arena', [0, 0], [7, 0]);
    agents.put(8, 'cellar', [0, 0], [7, 0]);
    agents.flush();
    await until(() => transport.changes.length === 2);
    const answer = { outcome: Outcome.FOUND, cost: 7, path: { points: [{ x: 0 }, { x: 7 }] } };
    const [found, ended] = transport.changes.map(({ agent, number }) => ({ agent, number }));
    transport.answer({
      states: [
        { ...found, version: { epoch: 1n, revision: 3n }, state: { case: 'answer', value: answer } },
        { ...ended, state: { case: 'end', value: { code: 14, message: 'not loaded' } } },
      ],
      progress: [{ map: 'arena', version: { epoch: 1n, revision: 5n } }],
    });
    await until(() => agents.takeNews().length === 2);
    assert.equal(agents.find(8)?.hasEnded, true);

    agents.moveTo(7, [1, 0]);
    agents.moveTo(8, [1, 0]);
    const lost = transport.changes;
    transport.answer(new WaystarError('UNAVAILABLE', 'gone'));
    await until(() => transport.changes !== lost && transport.changes.length > 0);
    assert.deepEqual(textOf(transport.changes), [`put 7 ${at(1)}`, `put 8 ${at(1)}`]);
    assert.equal(transport.changes[0]?.held?.cost, 7);
    assert.equal(transport.changes[0]?.held?.version?.revision, 5n);
    assert.equal(transport.changes[1]?.held, undefined);

    agents.moveTo(7, [2, 0]);
    agents.moveTo(8, [2, 0]);
    agents.flush();
    await until(() => transport.changes.length > 2);
    assert.deepEqual(textOf(transport.changes.slice(2)), [`at 7 ${at(2)}`, `at 8 ${at(2)}`]);
    agents.close();
  });

  test('are told in one change what was done to each since the last message', async () => {
    const transport = new Scripted();
    const agents = new Client(transport).followAgents();
    agents.put(7, 'arena', [0, 0], [7, 0]);
    agents.flush();
    await until(() => transport.changes.length > 0);
    agents.sendTo(7, [5, 0]);
    agents.moveTo(7, [1, 0]);
    agents.flush();
    await until(() => transport.changes.length > 1);
    assert.deepEqual(textOf(transport.changes.slice(1)), [`put 7 ${at(1)}`]);
    agents.moveTo(7, [2, 0]);
    agents.moveTo(7, [3, 0]);
    agents.flush();
    await until(() => transport.changes.length > 2);
    assert.deepEqual(textOf(transport.changes.slice(2)), [`at 7 ${at(3)}`]);
    agents.close();
  });

  test('are put again when the server allows it', async () => {
    const transport = new Scripted();
    const agents = new Client(transport).followAgents();
    agents.put(7, 'arena', [0, 0], [7, 0]);
    agents.flush();
    await until(() => transport.changes.length === 1);
    const lost = transport.changes;
    const start = performance.now();
    transport.answer(new WaystarError('RESOURCE_EXHAUSTED', 'busy', 'QUEUE_FULL', '', 300));
    await until(() => transport.changes !== lost);
    assert(performance.now() - start > 250);
    agents.close();
  });
});

describe('several servers', () => {
  test('answer for one that stops', async () => {
    const [first, second] = [await startServer(), await startServer()];
    for (const server of [first, second]) {
      await server.connect('grpc').createMap('arena', ROWS);
    }
    const client = connect([first.address('grpc'), second.address('grpc')].join());
    const map = client.map('arena');
    await assert.rejects(map.update([block(WALL)]), hasCode('FAILED_PRECONDITION'));
    const agents = client.followAgents();
    agents.put(7, 'arena', [0, 0], [7, 0]);
    agents.flush();
    await until(() => agents.takeNews().includes(7));
    const stopped = [first.stop('SIGTERM')];
    for (let i = 0; i < 100; i++) {
      assert.equal((await map.findPath([0, 0], [7, 0])).cost, 7);
    }
    await Promise.all(stopped);
    agents.sendTo(7, [3, 0]);
    await until(() => {
      agents.flush();
      return agents.find(7)?.answer?.cost === 3;
    });
    client.close();
    await until(() => agents.error);
  });
});

describe('encryption', () => {
  test('is asked for with the server\'s name and a token', async () => {
    const server = await startServer((work) => {
      const [cert, key] = [join(work, 'cert.pem'), join(work, 'key.pem')];
      const subject = ['-subj', '/CN=waystar', '-addext', 'subjectAltName=DNS:waystar.test', '-days', '9'];
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
      const files = ['-keyout', key, '-out', cert];
      execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'ignore' });
      return [`--tls_cert=${cert}`, `--tls_key=${key}`];
    });
    const ca = readFileSync(join(server.work, 'cert.pem'));
    const client = connect(server.address('grpc'), { token: 'unused', tls: { ca, serverName: 'waystar.test' } });
    await assert.rejects(client.map('arena').info(), hasCode('NOT_FOUND'));
    client.close();
    const stranger = connect(server.address('grpc'), { tls: { ca, serverName: 'other.test' } });
    await assert.rejects(stranger.map('arena').info(), hasCode('UNAVAILABLE'));
    stranger.close();
  });
});

describe('retries', () => {
  const busy = new WaystarError('RESOURCE_EXHAUSTED', 'busy', 'QUEUE_FULL', '', 1);
  const gone = new WaystarError('UNAVAILABLE', 'gone');

  test('are made of reads and of updates with their request_id', async () => {
    const transport = failing(busy, gone, busy);
    await new Client(transport).map('arena').findPath([0, 0], [1, 0]);
    assert.equal(transport.calls.length, 4);
    const changed = failing(gone, busy);
    await new Client(changed).map('arena').update([block(WALL)]);
    assert.equal(changed.calls.length, 3);
    assert((changed.calls[0] as UpdateMapRequest).requestTime);
    assert.deepEqual(changed.calls[0], changed.calls[2]);
  });

  test('are not made of other changes or of lasting errors', async () => {
    const lasting = new WaystarError('RESOURCE_EXHAUSTED', 'full', 'TOO_MANY_ITEMS');
    for (const [transport, run] of [
      [failing(gone), (client: Client) => client.map('arena').delete()],
      [failing(lasting), (client: Client) => client.map('arena').info()],
    ] as const) {
      await assert.rejects(run(new Client(transport)));
      assert.equal(transport.calls.length, 1);
    }
  });

  test('end while most calls fail, and before the deadline', async () => {
    const transport = failing(...Array.from({ length: 200 }, () => busy));
    const client = new Client(transport);
    for (let i = 0; i < 20; i++) {
      await assert.rejects(client.map('arena').info(), busy);
    }
    assert(transport.calls.length < 70);
    const late = failing(new WaystarError('UNAVAILABLE', 'wait', 'STORAGE_FAILED', '', 60_000));
    await assert.rejects(new Client(late).map('arena').info(), hasCode('UNAVAILABLE'));
  });

  test('are not needed by calls that wait for a server', async () => {
    const server = await startServer(withData);
    const client = connect(server.address('grpc'), { timeoutMs: 30_000, waitForReady: true });
    const map = await client.createMap('arena', ROWS);
    await server.stop('SIGKILL');
    const updated = map.update([block(WALL)]);
    // Longer than retries last.
    await setTimeout(1500);
    await server.start();
    assert.equal((await updated).version?.revision, 2n);
    client.close();
  });

  test('end when the client is closed', async () => {
    for (const client of [connect('127.0.0.1:1'), connectHttp('http://127.0.0.1:1')]) {
      const call = assert.rejects(client.map('arena').info(), hasCode('FAILED_PRECONDITION'));
      client.close();
      await call;
    }
  });

  test('follow a session that a proxy closed', async () => {
    let streams = 0;
    const proxy = createServer();
    proxy.on('stream', (stream) => {
      streams += 1;
      stream.on('error', () => {});
      stream.session?.goaway(2);
    });
    proxy.on('sessionError', () => {});
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const client = connect(`127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    await assert.rejects(client.map('arena').info(), hasCode('UNAVAILABLE'));
    assert(streams > 1);
    client.close();
    proxy.close();
  });

  test('are no reason to send a token in plain text', () => {
    assert.throws(() => connect('10.0.0.1', { token: 'x' }), /use TLS/);
    assert.throws(() => connectHttp('http://10.0.0.1:8080', { token: 'x' }), /use TLS/);
    assert.throws(() => connect('localhost', { token: 'x y' }), /visible ASCII/);
    connect('localhost', { token: 'x' }).close();
    connect('10.0.0.1,10.0.0.2', { token: 'x', tls: {} }).close();
  });
});
