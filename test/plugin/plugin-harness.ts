// `kubectl fdb` in a simulated world, without a process: the command line of the plugin with a session that goes straight into
// the emulated API server. What is written is kept, and questions are answered by script.
import { exitCodeOf } from "../../src/cli/program.ts";
import { pluginProgram } from "../../src/cli/plugin-program.ts";
import { KubeClient } from "../../src/kube/client.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import type { ConnectionFlags, OpenedSession } from "../../src/plugin/session.ts";
import type { TestWorld } from "../world/world-harness.ts";

export interface PluginOptions {
  /** Lines that are typed; without them standard input is no terminal. */
  answers?: readonly string[];
  /** Of the user who asks. */
  userName?: string;
  /** Stands between the plugin and the server. */
  through?: (transport: KubeTransport) => KubeTransport;
  signal?: AbortSignal;
  limitMs?: number;
}

export interface PluginResult {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
}

/** Runs `kubectl fdb ARGS` and lets time pass until it has ended. */
export async function runPlugin(
  world: TestWorld,
  args: readonly string[],
  options: PluginOptions = {},
): Promise<PluginResult> {
  let [out, notes] = ["", ""];
  const note = (text: string): void => void (notes += text);
  const answers = [...(options.answers ?? [])];
  const open = async (flags: ConnectionFlags): Promise<OpenedSession> => {
    const plain = world.world.server.transport(flags.as ?? options.userName ?? "person");
    const transport = options.through?.(plain) ?? plain;
    return {
      client: new KubeClient(transport, { userAgent: "kubectl-fdb", fieldManager: "kubectl-fdb" }),
      namespace: flags.namespace ?? "default",
      isNamespaceGiven: flags.namespace !== undefined,
      server: "https://emulated",
      clock: world.clock,
      serverNowMs: () => world.clock.nowMs(),
      out: {
        ...{ isTerminal: false, hasColor: false, hasNoteColor: false, width: 100, height: 50 },
        ...{ write: (text) => void (out += text), note },
        canAsk: options.answers !== undefined,
        readLine: async () => answers.shift(),
      },
      signal: options.signal ?? new AbortController().signal,
      close: () => {},
    };
  };
  const program = pluginProgram(open);
  captureOutput(program, (text) => void (out += text), note);
  const ended = exitCodeOf(program, args, note);
  const code = await world.during(
    ended,
    options.limitMs ?? 3_600_000,
    `kubectl fdb ${args.join(" ")}`,
  );
  return { code, out, notes };
}

type Program = ReturnType<typeof pluginProgram>;

function captureOutput(
  command: Program,
  writeOut: (text: string) => void,
  writeErr: (text: string) => void,
): void {
  command.configureOutput({ writeOut, writeErr });
  for (const child of command.commands) captureOutput(child as Program, writeOut, writeErr);
}
