// The life of one command: its input as it comes, its outputs, and its end by itself or by a kill. Commands are written
// as functions that return their exit code. Rules: spec/streams.md [WS10].
import type { CommandContext, RunningCommand } from "../../pod/container-command.ts";

export interface CommandIo {
  /** What the command sees; `words` are its own. */
  readonly context: CommandContext;
  /** The next bytes of its input; undefined at the end. */
  readonly read: () => Promise<Uint8Array | undefined>;
  readonly out: (data: string | Uint8Array) => Promise<void>;
  readonly err: (data: string | Uint8Array) => Promise<void>;
  /** Resolves after a time; never once the command is killed. */
  sleep(delayMs: number): Promise<void>;
  /** Calls back when the command is killed; returns what forgets it. */
  onKill(killed: () => void): () => void;
}

export type CommandProgram = (io: CommandIo) => Promise<number>;

const killedCode = 137;
const waitingBytesMax = 1024 * 1024;

/** Bytes from a writer to a reader; a writer waits while too much was not yet read. */
export class Pipe {
  #chunks: Uint8Array[] = [];
  #size = 0;
  #isEnded = false;
  #readers: (() => void)[] = [];
  #writers: (() => void)[] = [];

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#isEnded || bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#size += bytes.length;
    wake(this.#readers);
    while (this.#size > waitingBytesMax && !this.#isEnded) {
      await new Promise<void>((resolve) => this.#writers.push(resolve));
    }
  }

  end(): void {
    this.#isEnded = true;
    wake(this.#readers);
    wake(this.#writers);
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#size -= chunk.length;
        wake(this.#writers);
        return chunk;
      }
      if (this.#isEnded) return undefined;
      await new Promise<void>((resolve) => this.#readers.push(resolve));
    }
  }
}

function wake(waiting: (() => void)[]): void {
  for (const resolve of waiting.splice(0)) resolve();
}

export function startCommand(context: CommandContext, program: CommandProgram): RunningCommand {
  const input = new Pipe();
  const { promise: exited, resolve } = Promise.withResolvers<number>();
  const killed = new Set<() => void>();
  let isOver = false;
  const end = (code: number): void => {
    if (isOver) return;
    isOver = true;
    input.end();
    resolve(code);
  };
  const write = async (stream: "stdout" | "stderr", data: string | Uint8Array): Promise<void> => {
    const bytes = bytesOf(data);
    if (!isOver && bytes.length > 0) await context.write(stream, bytes);
    // A killed command does nothing any more.
    if (isOver) await new Promise(() => {});
  };
  const io: CommandIo = {
    context,
    read: () => input.read(),
    out: (data) => write("stdout", data),
    err: (data) => write("stderr", data),
    sleep: (delayMs) =>
      new Promise((done) => {
        const timer = context.clock.setTimer(delayMs, () => {
          forget();
          done();
        });
        const forget = io.onKill(() => timer.cancel());
      }),
    onKill: (callback) => {
      killed.add(callback);
      return () => killed.delete(callback);
    },
  };
  program(io).then(end, (error: unknown) => {
    void context.write("stderr", Buffer.from(`${String(error)}\n`));
    end(1);
  });
  return {
    exited,
    input: (bytes) => input.write(bytes),
    endInput: () => input.end(),
    resize: () => {},
    kill: () => {
      end(killedCode);
      for (const callback of [...killed]) callback();
      killed.clear();
    },
  };
}

export function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? Buffer.from(data) : data;
}

export async function readAll(io: Pick<CommandIo, "read">): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const chunk = await io.read();
    if (chunk === undefined) return Buffer.concat(chunks);
    chunks.push(chunk);
  }
}
