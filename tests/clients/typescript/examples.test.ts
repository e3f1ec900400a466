// The examples, in a folder where the package is installed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Server, TRANSPORTS, until } from './server.js';

class Example {
  // All that it has printed so far.
  output = '';
  private readonly ended: Promise<number[]>;

  constructor(name: string, ...args: string[]) {
    const program = spawn(process.execPath, [fileURLToPath(new URL(`../../${name}`, import.meta.url)), ...args]);
    for (const stream of [program.stdout, program.stderr]) {
      stream.on('data', (text: Buffer) => (this.output += text));
    }
    this.ended = once(program, 'close') as Promise<number[]>;
  }

  async succeed(): Promise<void> {
    const [code] = await this.ended;
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

  test('the game loop goes on when the server is restarted', async () => {
    const game = new Example('game_loop.js', server.address('grpc'), '80', '32');
    await until(() => game.output.includes('tick 20: '));
    await server.stop('SIGTERM');
    await server.start();
    const printed = game.output.length;
    await game.succeed();
    const counts = [...game.output.slice(printed).matchAll(/^tick \d+: (\d+) steps, (\d+) paths$/gm)];
    const [[, steps, paths] = [], [, lastSteps, lastPaths] = []] = [counts.at(0), counts.at(-1)];
    assert(Number(lastSteps) > Number(steps) && Number(lastPaths) > Number(paths), game.output);
    assert.match(game.output, /^80 ticks, \d+ late, 0 calls lost, \d+ paths received$/m);
  });
});
