// One place for an fdbserver that is kept running: started, watched, and started again after it
// ended. Both monitors use it; they differ only in how long they wait and what they start.
import type { Timer } from "../env/clock.ts";
import type { ContainerProcess } from "../pod/container-command.ts";
import type { ProgramContext } from "../pod/container-program.ts";
import { binaryVersion } from "../pod/container-program.ts";
import type { ServerExit, ServerProcess } from "../pod/process-runtime.ts";

export interface ServerCommand {
  readonly binaryPath: string;
  readonly args: readonly string[];
}

export interface ServerSlotOptions {
  readonly name: string;
  readonly context: ProgramContext;
  /** What to start next; undefined when nothing should run. */
  next(): ServerCommand | undefined;
  /** The pause before the next start, given how the process ended and how long it ran. */
  pauseMs(exit: ServerExit, ranMs: number): number;
  onIdle(): void;
}

/** Even a process that ends at once costs some time to start again. */
const shortestPauseMs = 100;

export class ServerSlot {
  readonly #options: ServerSlotOptions;
  #process: ServerProcess | undefined;
  #commandLine = "";
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: ServerSlotOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  /** The process that runs. */
  processes(): readonly ContainerProcess[] {
    const process = this.#process;
    if (process === undefined) return [];
    return [{ commandLine: this.#commandLine, kill: () => process.kill() }];
  }

  /** Starts the process unless it runs already or a start is due anyway. */
  ensure(): void {
    if (this.#isClosed || this.#process !== undefined || this.#timer !== undefined) return;
    this.#start();
  }

  /** Ends the running process; the slot decides afterwards what runs next. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#process?.kill();
  }

  /** Ends the process and starts nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.stop();
  }

  #start(): void {
    const { context, name } = this.#options;
    const command = this.#options.next();
    if (command === undefined) return;
    const { binaryPath, args } = command;
    const startedAtMs = context.clock.nowMs();
    const version = binaryVersion(context.files.read(binaryPath));
    if (version === undefined) {
      const message = `cannot execute ${binaryPath}: no such file`;
      context.writeLog(`${name}: ${message}`);
      return this.#restartLater({ code: 127, message }, 0);
    }
    context.writeLog(`${name}: starting ${[binaryPath, ...args].join(" ")}`);
    const { pod, nodeName, files, runtime, environment } = context;
    const place = { pod, nodeName, files, environment };
    const running = runtime.start({ binaryPath, version, args, ...place });
    this.#process = running;
    this.#commandLine = [binaryPath, ...args].join(" ");
    for (const line of running.warnings ?? []) context.writeLog(`${name}: ${line}`);
    void running.exited.then((exit) => {
      this.#process = undefined;
      context.writeLog(`${name}: exited with code ${exit.code}: ${exit.message}`);
      if (this.#isClosed) return this.#options.onIdle();
      this.#restartLater(exit, context.clock.nowMs() - startedAtMs);
    });
  }

  #restartLater(exit: ServerExit, ranMs: number): void {
    const pauseMs = Math.max(shortestPauseMs, this.#options.pauseMs(exit, ranMs));
    this.#timer = this.#options.context.clock.setTimer(pauseMs, () => {
      this.#timer = undefined;
      this.ensure();
    });
  }
}
