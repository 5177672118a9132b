// fdbmonitor in the main container of the split image: keeps the servers of its configuration file
// running. The container starts it through a shell line, which is read as a shell would. Rules
// KUBELET46 to KUBELET48.
import type { ContainerProcess } from "../pod/container-command.ts";
import type { Program, ProgramContext, RunningProgram } from "../pod/container-program.ts";
import { readMonitorConf } from "./fdbmonitor-conf.ts";
import type { MonitoredServer } from "./fdbmonitor-conf.ts";
import { parseFlags } from "./program-flags.ts";
import type { ServerExit } from "../pod/process-runtime.ts";
import { ServerSlot } from "./server-slot.ts";
import { parseShellLine } from "./shell-line.ts";

const flagKinds = { conffile: "text", lockfile: "text", loggroup: "text" } as const;

export const runFdbmonitor: Program = (context) => {
  const words = [...context.command, ...context.args];
  const line =
    /^(\/bin\/)?(ba)?sh$/.test(words[0] ?? "") && words[1] === "-c" ? words[2] : undefined;
  const shell = line === undefined ? { words, redirections: [] } : parseShellLine(line);
  if ("problem" in shell) return failed(context, 2, `sh: ${shell.problem}`);
  for (const path of shell.redirections) {
    const isWritable = context.files.write(path, context.files.read(path) ?? "");
    if (!isWritable) return failed(context, 2, `sh: cannot create ${path}: no such directory`);
  }
  const [program = "", ...args] = shell.words;
  if (!/^(\/usr\/(s?bin|lib\/foundationdb)\/)?fdbmonitor$/.test(program)) {
    return failed(context, 127, `sh: ${program}: not found`);
  }
  const parsed = parseFlags(flagKinds, args);
  if ("problem" in parsed) return failed(context, 1, `fdbmonitor: ${parsed.problem}`);
  const { flags } = parsed;
  const lockPath = flags.text("lockfile", "/var/run/fdbmonitor.pid");
  if (!context.files.write(lockPath, "1")) {
    return failed(context, 1, `fdbmonitor: unable to open lock file ${lockPath}`);
  }
  const path = flags.text("conffile", "/etc/foundationdb/foundationdb.conf");
  if (context.files.read(path) === undefined) {
    return failed(context, 1, `fdbmonitor: configuration file ${path} cannot be read`);
  }
  const monitor = new Monitor(context, path);
  monitor.load();
  context.files.onChange(path, () => monitor.load());
  return monitor;
};

function failed(context: ProgramContext, code: number, message: string): RunningProgram {
  context.writeLog(message);
  context.exit(code);
  return { terminate: () => {}, kill: () => {} };
}

interface Watched {
  server: MonitoredServer;
  readonly slot: ServerSlot;
  hasRestarted: boolean;
}

class Monitor implements RunningProgram {
  readonly #context: ProgramContext;
  readonly #path: string;
  readonly #watched = new Map<string, Watched>();
  /** Servers of sections that are gone, until they have ended. */
  readonly #closing = new Set<ServerSlot>();
  #isStopping = false;

  constructor(context: ProgramContext, path: string) {
    this.#context = context;
    this.#path = path;
  }

  load(): void {
    if (this.#isStopping) return;
    const servers = readMonitorConf(this.#context.files.read(this.#path) ?? "");
    const sections = new Set(servers.map((server) => server.section));
    for (const [section, { slot }] of this.#watched) {
      if (sections.has(section)) continue;
      this.#watched.delete(section);
      if (slot.isRunning) this.#closing.add(slot);
      slot.close();
    }
    for (const server of servers) this.#keep(server);
  }

  terminate(): void {
    this.kill();
    this.#exitWhenIdle();
  }

  kill(): void {
    this.#isStopping = true;
    for (const { slot } of this.#watched.values()) slot.close();
  }

  processes(): readonly ContainerProcess[] {
    return [...this.#watched.values()].flatMap(({ slot }) => slot.processes());
  }

  #keep(server: MonitoredServer): void {
    const known = this.#watched.get(server.section);
    if (known === undefined) {
      const watched: Watched = {
        server,
        slot: this.#createSlot(server.section),
        hasRestarted: false,
      };
      this.#watched.set(server.section, watched);
      return watched.slot.ensure();
    }
    const isChanged =
      known.server.command !== server.command ||
      known.server.args.join("\n") !== server.args.join("\n");
    known.server = server;
    // A server that may not be killed for it gets its new arguments at its next start.
    if (isChanged && server.isKilledOnChange) known.slot.stop();
    known.slot.ensure();
  }

  #createSlot(section: string): ServerSlot {
    const slot: ServerSlot = new ServerSlot({
      name: section,
      context: this.#context,
      next: () => {
        const watched = this.#watched.get(section);
        return watched && { binaryPath: watched.server.command, args: watched.server.args };
      },
      pauseMs: (exit, ranMs) => this.#pauseMs(section, exit, ranMs),
      onIdle: () => {
        this.#closing.delete(slot);
        this.#exitWhenIdle();
      },
    });
    return slot;
  }

  /** The first restart is immediate; a server that ends again soon waits for its whole delay. */
  #pauseMs(section: string, _exit: ServerExit, ranMs: number): number {
    const watched = this.#watched.get(section);
    if (watched === undefined) return 0;
    const delayMs = watched.server.restartDelaySeconds * 1000;
    const isFirst = !watched.hasRestarted || ranMs >= delayMs;
    watched.hasRestarted = true;
    return isFirst ? 0 : Math.round(delayMs * (0.9 + 0.2 * this.#context.random.next()));
  }

  #exitWhenIdle(): void {
    if (!this.#isStopping || this.#closing.size > 0) return;
    if ([...this.#watched.values()].some(({ slot }) => slot.isRunning)) return;
    this.#context.exit(0);
  }
}
