// A server with the sample maps, as a program.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Client, connect as connectGrpc } from '@waystar/client';
import { connect as connectHttp } from '@waystar/client/http';

const BIN = process.env['WAYSTAR_BIN'] ?? '';
const PATIENCE_MS = 30_000;

export const TRANSPORTS = ['grpc', 'http'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

// Asks again and again until the answer is true, and returns it.
export async function until<T>(condition: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await setTimeout(5)) {
    const answer = await condition();
    if (answer) {
      return answer;
    }
  }
  throw new Error(`waited in vain: ${condition}`);
}

export class Server {
  readonly work = mkdtempSync(join(tmpdir(), 'waystar-'));
  private readonly clients: Client[] = [];
  private process?: ChildProcess;
  // On an address of this process, nobody else takes the port of a server that is to be started again.
  private readonly host = `127.${64 + (process.pid >> 16)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
  private port = 0;
  private httpPort = 0;

  // `flags` gets the folder `work`, which is the server's own.
  constructor(private readonly flags: (work: string) => string[] = () => []) {}

  async start(): Promise<void> {
    const portFile = join(this.work, 'port');
    rmSync(portFile, { force: true });
    let log = '';
    // A machine that is busy with other tests is no reason to refuse a call.
    this.process = spawn(join(BIN, 'waystar-server'), [
      `--listen=${this.host}:${this.port}`,
      `--http_listen=${this.host}:${this.httpPort}`,
      `--port_file=${portFile}`,
      '--max_queue_time=1m',
      '--queue_target=1m',
      ...this.flags(this.work),
    ]);
    this.process.stderr?.on('data', (text: Buffer) => (log += text));
    this.port = Number(await until(() => existsSync(portFile) && readFileSync(portFile, 'utf8').trim()));
    const found = await until(() => /event=serving_http .*port=(\d+)/.exec(log));
    this.httpPort = Number(found[1]);
  }

  // Returns when no thread of the server runs any more.
  async freeze(): Promise<void> {
    this.process?.kill('SIGSTOP');
    const tasks = `/proc/${this.process?.pid}/task`;
    await until(() => readdirSync(tasks).every((id) => / T /.test(readFileSync(`${tasks}/${id}/stat`, 'utf8'))));
  }

  thaw(): void {
    this.process?.kill('SIGCONT');
  }

  async stop(name: NodeJS.Signals): Promise<void> {
    if (this.process?.exitCode === null && this.process.signalCode === null) {
      const exit = once(this.process, 'exit');
      this.process.kill(name);
      await exit;
    }
  }

  address(transport: TransportName): string {
    return transport === 'grpc' ? `${this.host}:${this.port}` : `http://${this.host}:${this.httpPort}`;
  }

  connect(transport: TransportName, options: Parameters<typeof connectHttp>[1] = {}): Client {
    const patient = { timeoutMs: PATIENCE_MS, ...options };
    const address = this.address(transport);
    const client = transport === 'grpc' ? connectGrpc(address, patient) : connectHttp(address, patient);
    this.clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    this.clients.forEach((client) => client.close());
    await this.stop('SIGKILL');
    rmSync(this.work, { recursive: true });
  }
}

// Returns a token, which a server with --tokens_file=FILE accepts.
export function newToken(file: string, name: string, ...permissions: string[]): string {
  const made = execFileSync(join(BIN, 'waystar'), ['token', name, ...permissions], { encoding: 'utf8' });
  const lines = made.split('\n');
  appendFileSync(file, `${lines[3]}\n`);
  return lines[1] ?? '';
}
