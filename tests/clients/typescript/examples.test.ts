// The examples, in a folder where the package is installed.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Server, TRANSPORTS, until } from './server.js';

class Example {
  // All that it has printed so far.
  output = '';
  readonly program: ChildProcess;

  constructor(name: string, ...args: string[]) {
    const path = fileURLToPath(new URL(`../../${name}`, import.meta.url));
    this.program = spawn(process.execPath, [path, ...args]);
    for (const stream of [this.program.stdout, this.program.stderr]) {
      stream?.on('data', (text: Buffer) => (this.output += text));
    }
  }

  async succeed(): Promise<void> {
    const [code] = (await once(this.program, 'close')) as number[];
    assert.equal(code, 0, this.output);
  }
}

describe('examples', () => {
  let server: Server;
  before(async () => {
    server = new Server((work) => [`--data_dir=${join(work, 'data')}`]);
    await server.start();
  });
  after(() => server.close());

  for (const transport of TRANSPORTS) {
    test(`the walker arrives by ${transport}`, async () => {
      const walker = new Example('walker.js', server.address(transport));
      await walker.succeed();
      assert.match(walker.output, /^\d+: 9,1$/m);
    });
  }

  test('the game loop counts', async () => {
    const game = new Example('game_loop.js', server.address('grpc'), '20', '32');
    await game.succeed();
    assert.match(game.output, /^20 ticks, \d+ late, 0 calls lost, \d+ paths received$/m);
  });

  test('the game loop goes on when the server is restarted', async () => {
    const game = new Example('game_loop.js', server.address('grpc'), '1000000', '32');
    const counts = () => [...game.output.matchAll(/^tick \d+: (\d+) steps, (\d+) paths$/gm)];
    await until(() => counts().length > 0);
    await server.stop('SIGTERM');
    await server.start();
    const [, steps, paths] = await until(() => counts().at(-1));
    await until(() => {
      const [, lastSteps, lastPaths] = counts().at(-1) ?? [];
      return Number(lastSteps) > Number(steps) && Number(lastPaths) > Number(paths);
    });
    game.program.kill();
    await once(game.program, 'close');
    assert.doesNotMatch(game.output, /stuck/);
  });
});
