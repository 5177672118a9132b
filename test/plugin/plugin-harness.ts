// `kubectl fdb` in a simulated world, without a process: the command line of the plugin with a session that goes straight into
// the emulated API server. What is written is kept, and questions are answered by script.
import { exitCodeOf } from "../../src/cli/program.ts";
import { pluginProgram } from "../../src/cli/plugin-program.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { KubeError } from "../../src/kube/error.ts";
import type { PodStreams } from "../../src/kube/pod-exec.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import type { ConnectionFlags, OpenedSession } from "../../src/plugin/session.ts";
import type { World } from "../../src/sim/world.ts";

/** Where the plugin is used: a world, and how time passes in it until a promise is fulfilled. */
export interface PluginPlace {
  readonly world: Pick<World, "server" | "clock">;
  during<T>(promise: Promise<T>, limitMs: number, what: string): Promise<T>;
}

export interface PluginOptions {
  /** Lines that are typed; without them standard input is no terminal. */
  answers?: readonly string[];
  /** Of the user who asks. */
  userName?: string;
  /** Stands between the plugin and the server. */
  through?: (transport: KubeTransport) => KubeTransport;
  signal?: AbortSignal;
  limitMs?: number;
  /** Commands in pods and logs that are followed: those of the world unless others are given. */
  exec?: PodStreams;
  /** Other worlds, by the contexts that lead there. */
  contexts?: Readonly<Record<string, PluginPlace["world"]>>;
  /** Of a terminal; without it the output is a pipe. */
  screen?: { width: number; height: number };
}

export interface PluginResult {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
}

/** Runs `kubectl fdb ARGS` and lets time pass until it has ended. */
export async function runPlugin(
  place: PluginPlace,
  args: readonly string[],
  options: PluginOptions = {},
): Promise<PluginResult> {
  let [out, notes] = ["", ""];
  const note = (text: string): void => void (notes += text);
  const open = openIn(place.world, options, (text) => void (out += text), note);
  const program = pluginProgram(open);
  captureOutput(program, (text) => void (out += text), note);
  const ended = exitCodeOf(program, args, note);
  const code = await place.during(
    ended,
    options.limitMs ?? 3_600_000,
    `kubectl fdb ${args.join(" ")}`,
  );
  return { code, out, notes };
}

/** A session in the world for each call. */
export function openIn(
  { server, clock }: PluginPlace["world"],
  options: PluginOptions = {},
  write: (text: string) => void = () => {},
  note: (text: string) => void = () => {},
): (flags: ConnectionFlags) => Promise<OpenedSession> {
  const answers = [...(options.answers ?? [])];
  return async (flags) => {
    const other = options.contexts?.[flags.context ?? ""];
    if (other !== undefined) return openIn(other, { ...options, contexts: {} }, write, note)(flags);
    const plain = server.transport(flags.as ?? options.userName ?? "person");
    const transport = options.through?.(plain) ?? plain;
    return {
      client: new KubeClient(transport, { userAgent: "kubectl-fdb", fieldManager: "kubectl-fdb" }),
      exec: options.exec ?? server.pods(flags.as ?? options.userName ?? "person"),
      namespace: flags.namespace ?? "default",
      isNamespaceGiven: flags.namespace !== undefined,
      server: "https://emulated",
      clock,
      serverNowMs: () => clock.nowMs(),
      out: {
        ...{ isTerminal: options.screen !== undefined, hasColor: false, hasNoteColor: false },
        ...{ width: 100, height: 50, ...options.screen },
        ...{ write, note },
        canAsk: options.answers !== undefined,
        readLine: async () => answers.shift(),
        pass: (stream, bytes) =>
          (stream === "stdout" ? write : note)(Buffer.from(bytes).toString()),
        giveKeyboard: (_isRaw, reader) => {
          reader.onEnd();
          return { takeBack: () => {} };
        },
      },
      signal: options.signal ?? new AbortController().signal,
      close: () => {},
    };
  };
}

const refused = (): Promise<never> =>
  Promise.reject(new KubeError(0, "Unreachable", "no node answers"));

/** Pods in which nobody answers. */
export const silentPods: PodStreams = { run: refused, open: refused, followLog: refused };

type Program = ReturnType<typeof pluginProgram>;

function captureOutput(
  command: Program,
  writeOut: (text: string) => void,
  writeErr: (text: string) => void,
): void {
  command.configureOutput({ writeOut, writeErr });
  for (const child of command.commands) captureOutput(child as Program, writeOut, writeErr);
}
