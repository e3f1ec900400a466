import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  block,
  cells,
  type Client,
  disc,
  durationFromMs,
  type FindPathResponse,
  location,
  MapService,
  moveObstacle,
  MoveVerdict,
  Outcome,
  PathForm,
  PathService,
  putObstacle,
  rect,
  removeObstacle,
  unblock,
  WaystarError,
} from '@waystar/client';
import { Server, TRANSPORTS, until } from './server.js';

const ROWS = ['........', '........', '........', '........'];

function refusal(code: string, reason: string, field: string) {
  return (error: unknown) => {
    assert(error instanceof WaystarError);
    assert.deepEqual([error.code, error.reason, error.field], [code, reason, field]);
    return true;
  };
}

const pointsOf = (answer?: FindPathResponse) => answer?.path?.points.map(({ x, y }) => `${x},${y}`).join(' ');

for (const transport of TRANSPORTS) {
  describe(`calls by ${transport}`, () => {
    let server: Server;
    let client: Client;
    before(async () => {
      server = new Server();
      await server.start();
      client = server.connect(transport);
    });
    after(() => server.close());

    test('finds paths', async () => {
      const map = await client.createMap('paths', ROWS);
      const answer = await map.findPath([0, 0], [7, 0], { pathForm: PathForm.CORNERS, timeoutMs: 20_000 });
      assert.equal(answer.outcome, Outcome.FOUND);
      assert.equal(answer.cost, 7);
      assert.equal(pointsOf(answer), '0,0 7,0');
      const nearer = await map.findPath([0, 0], [[7, 0], [0, 2]]);
      assert.equal(nearer.goalIndex, 1);
      const position = await map.findPath([0.5, 0.5, 0], [3.5, 0.5, 0]);
      assert.deepEqual(position.path?.positions.map(({ x }) => x), [0.5, 1.5, 2.5, 3.5]);
    });

    test('tells what is wrong', async () => {
      const map = await client.createMap('refusals', ROWS);
      await assert.rejects(map.findPath([0, 0], [8, 0]), refusal('OUT_OF_RANGE', 'OFF_MAP', 'goals[0]'));
      const node = map.findPath('door', [1, 1]);
      await assert.rejects(node, refusal('FAILED_PRECONDITION', 'WRONG_MAP_KIND', 'start.node'));
      await assert.rejects(client.map('nowhere').info(), refusal('NOT_FOUND', 'MAP_NOT_FOUND', 'map'));
      await assert.rejects(map.findPath([0.5, 0], [1, 1]), RangeError);
    });

    test('waits as long as it is told', async () => {
      const map = await client.createMap('waits', ROWS, { timeoutMs: Infinity });
      assert.equal((await map.findPath([0, 0], [1, 0], { timeoutMs: Infinity })).cost, 1);
      const paths = client.pathStream();
      assert.equal((await paths.findPath('waits', [0, 0], [1, 0], { timeoutMs: Infinity })).cost, 1);
      paths.close();
    });

    test('updates maps, once for each request_id', async () => {
      const map = await client.createMap('updates', ROWS);
      const edits = [block({ ...rect(3, 0, 1, 2), ...cells([3, 2]) }), putObstacle('crate', disc(3, 3, 0))];
      const first = await map.update(edits, { requestId: 'one' });
      assert.equal(first.changedCells, 4n);
      const again = await map.update(edits, { requestId: 'one' });
      assert.equal(again.alreadyApplied, true);
      assert.equal((await map.findPath([0, 0], [7, 0])).outcome, Outcome.UNREACHABLE);
      await map.update([moveObstacle('crate', 1, 0)]);
      assert.equal((await map.findPath([0, 3], [3, 3])).cost, 3);
      await map.update([removeObstacle('crate'), unblock(rect(3, 0, 1, 1))]);
      assert.equal((await map.findPath([0, 0], [7, 0])).cost, 7);
      const stale = map.update([block(rect(0, 0, 1, 1))], { expectedVersion: first.version });
      await assert.rejects(stale, refusal('ABORTED', 'STALE_REVISION', 'expected_version'));
    });

    test('reads its own writes, and what replaced them', async () => {
      const map = await client.createMap('own', ROWS);
      await map.update([block(rect(0, 3, 1, 1))]);
      const other = server.connect(transport);
      await other.map('own').delete();
      await other.createMap('own', ROWS);
      assert.equal((await map.findPath([0, 0], [7, 0])).info?.version?.revision, 1n);
      // A version that the map has not reached is waited for.
      const { version } = await map.info();
      client.noteChange('own', { ...version!, revision: 2n });
      const [answer] = await Promise.all([
        map.findPath([0, 0], [7, 0]),
        other.map('own').update([block(rect(1, 0, 1, 3))]),
      ]);
      assert.equal(answer.info?.version?.revision, 2n);
    });

    test('watches a map', async () => {
      const map = await client.createMap('watched', ROWS);
      const cases: string[] = [];
      for await (const event of map.watch({ withEdits: true })) {
        cases.push(event.case);
        if (event.case === 'watching') {
          await map.update([block(rect(3, 0, 1, 3))]);
        } else if (event.case === 'commit') {
          assert.equal(event.value.edits[0]?.edit.case, 'block');
          await map.delete();
          await client.createMap('watched', ROWS);
        } else {
          break;
        }
      }
      assert.deepEqual(cases, ['watching', 'commit', 'resynchronize']);
      await assert.rejects(client.map('nowhere').watch().next(), refusal('NOT_FOUND', 'MAP_NOT_FOUND', 'map'));
    });

    test('streams queries', async () => {
      await client.createMap('streamed', ROWS);
      const paths = client.pathStream();
      const queries = Array.from({ length: 3000 }, (_, i) => paths.findPath('streamed', [0, 0], [i % 8, 0]));
      const bad = paths.findPath('streamed', [0, 0], [8, 0]);
      await assert.rejects(bad, refusal('OUT_OF_RANGE', 'OFF_MAP', 'goals[0]'));
      (await Promise.all(queries)).forEach(({ cost }, i) => assert.equal(cost, i % 8));
      const last = paths.findPath('streamed', [0, 0], [1, 0]);
      paths.close();
      await assert.rejects(last, refusal('CANCELLED', '', ''));
      await assert.rejects(paths.findPath('streamed', [0, 0], [1, 0]), refusal('CANCELLED', '', ''));
    });

    test('judges moves', async () => {
      const map = await client.createMap('moves', ROWS);
      const moves = [
        { from: [0, 0], to: [4, 0], elapsedMs: 1000 },
        { from: [0, 0], to: [7, 0], elapsedMs: 1000 },
        { from: [0, 0], to: [7, 0], elapsedMs: 1000, speed: 7 },
      ] as const;
      const { results } = await map.checkMoves(moves, { speed: 4, timeTolerance: durationFromMs(100) });
      assert.deepEqual(results.map(({ verdict }) => verdict), [MoveVerdict.OK, MoveVerdict.TOO_FAST, MoveVerdict.OK]);
    });

    test('follows agents', async () => {
      const map = await client.createMap('walked', ROWS);
      const agents = client.followAgents({ atMostEvery: durationFromMs(0) });
      agents.put(7, 'walked', [0, 0], [7, 0]);
      agents.put(8, 'walked', [0, 3], [7, 9]);
      agents.flush();
      const news = new Set<number>();
      await until(() => agents.takeNews().forEach((id) => news.add(id)) ?? news.size === 2);
      assert.equal(agents.find(7)?.answer?.cost, 7);
      assert.equal(agents.find(8)?.problem?.reason, 'OFF_MAP');
      assert.equal(agents.find(9), undefined);

      agents.moveTo(7, [1, 0]);
      agents.flush();
      const { version } = await map.update([block(rect(3, 0, 1, 2))]);
      await until(() => /^1,0 2,1 .*7,0$/.test(pointsOf(agents.find(7)?.answer) ?? ''));
      await until(() => agents.progressOf('walked')?.version?.revision === version?.revision);

      agents.sendTo(7, [1, 3]);
      agents.sendTo(8, [1, 3]);
      agents.flush();
      await until(() => agents.find(7)?.answer?.cost === 3 && agents.find(8)?.answer?.cost === 1);
      agents.remove(7);
      agents.flush();
      assert.equal(agents.find(7), undefined);
      agents.close();
      await until(() => agents.error?.code === 'CANCELLED');
    });

    test('follows agents onto other maps', async () => {
      const yard = await client.createMap('yard', ['.....']);
      const cellar = await client.createMap('cellar', ['.....']);
      const stairs = { id: 'stairs', from: { x: 4, y: 0 }, to: { x: 4, y: 0 }, toMap: 'cellar' };
      await yard.update([{ edit: { case: 'putPortal', value: stairs } }]);
      const agents = client.followAgents({ atMostEvery: durationFromMs(0) });
      agents.put(7, 'yard', [1, 0], [0, 0], { goalMap: 'cellar' });
      agents.flush();
      await until(() => agents.find(7)?.answer?.cost === 7);
      agents.moveTo(7, [4, 0], 'cellar');
      // The path was on the map before.
      assert.equal(agents.find(7)?.answer, undefined);
      agents.moveTo(7, [3, 0], 'cellar');
      agents.flush();
      await until(() => agents.find(7)?.answer?.cost === 3);
      await cellar.update([block(cells([2, 0]))]);
      await until(() => agents.find(7)?.answer?.outcome === Outcome.UNREACHABLE);
      agents.close();
    });

    test('makes any call and opens any stream', async () => {
      await client.createMap('exported', ROWS);
      const ray = { map: 'exported', from: location([0, 0]), to: location([3, 0]) };
      assert.equal((await client.call(PathService.method.castRay, ray)).info?.version?.revision, 1n);
      const parts: Uint8Array[] = [];
      for await (const { part } of client.stream(MapService.method.exportMap, [{ map: 'exported' }])) {
        if (part.case === 'chunk') {
          parts.push(part.value);
        }
      }
      const bytes = Buffer.concat(parts);
      const messages = [
        { part: { case: 'header', value: { map: 'imported', size: BigInt(bytes.length) } } },
        { part: { case: 'chunk', value: bytes } },
      ] as const;
      for await (const { info } of client.stream(MapService.method.importMap, messages)) {
        assert.equal(info?.map, 'imported');
      }
      assert.equal((await client.map('imported').findPath([0, 0], [7, 0])).cost, 7);
    });
  });
}
