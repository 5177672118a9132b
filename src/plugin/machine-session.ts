// The session of a person at a keyboard: kubeconfig, HTTPS and the process's own streams. Rules: spec/plugin.md [PL1], [PL2], [PL6].
import { createInterface } from "node:readline/promises";
import type { Interface } from "node:readline/promises";
import { CommandError } from "../env/command-error.ts";
import { machineClock } from "../env/clock.ts";
import { KubeClient } from "../kube/client.ts";
import { httpsTransport } from "../kube/https.ts";
import { connectionOfPerson, KubeconfigError } from "../kube/kubeconfig.ts";
import type { KubeConnection } from "../kube/kubeconfig.ts";
import { measuredTransport, ServerClock } from "../kube/server-clock.ts";
import type { ConnectionFlags, KeyboardReader, OpenedSession, Terminal } from "./session.ts";

const requestTimeoutMs = 15_000;

export async function openMachineSession(flags: ConnectionFlags): Promise<OpenedSession> {
  const connection = connectionOf(flags);
  const transport = httpsTransport(connection, {
    requestTimeoutMs: flags.requestTimeout ?? requestTimeoutMs,
  });
  const clock = machineClock();
  const serverClock = new ServerClock();
  const measured = measuredTransport(transport, clock, serverClock);
  const out = machineTerminal();
  let interruption: AbortController | undefined;
  return {
    client: new KubeClient(measured, { userAgent: "kubectl-fdb", fieldManager: "kubectl-fdb" }),
    exec: transport.pods,
    namespace: flags.namespace ?? connection.namespace ?? "default",
    isNamespaceGiven: flags.namespace !== undefined,
    server: connection.server,
    clock,
    serverNowMs: () => clock.nowMs() + serverClock.aheadMs,
    out,
    get signal() {
      interruption ??= interruptionOfProcess();
      return interruption.signal;
    },
    close() {
      transport.close();
      clock.stop();
      out.close();
    },
  };
}

/** Without a listener the first Ctrl-C ends the process, as it should where nobody promises to end by himself. */
function interruptionOfProcess(): AbortController {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => controller.abort());
  }
  return controller;
}

function machineTerminal(): Terminal & { close(): void } {
  const { stdin, stdout, stderr } = process;
  let lines: Interface | undefined;
  let iterator: AsyncIterator<string> | undefined;
  return {
    get isTerminal() {
      return stdout.isTTY;
    },
    // Looks at NO_COLOR and TERM, too.
    hasColor: stdout.isTTY && stdout.hasColors(),
    hasNoteColor: stderr.isTTY && stderr.hasColors(),
    get width() {
      return stdout.isTTY ? stdout.columns : 100;
    },
    get height() {
      return stdout.isTTY ? stdout.rows : 1_000;
    },
    write: (text) => void stdout.write(text),
    note: (text) => void stderr.write(text),
    canAsk: stdin.isTTY,
    async readLine() {
      lines ??= createInterface({ input: stdin });
      iterator ??= lines[Symbol.asyncIterator]();
      const next = await iterator.next();
      return next.done === true ? undefined : next.value;
    },
    pass: (stream, bytes) => void (stream === "stdout" ? stdout : stderr).write(bytes),
    giveKeyboard,
    close: () => lines?.close(),
  };
}

function giveKeyboard(isRaw: boolean, reader: KeyboardReader): { takeBack(): void } {
  const { stdin, stdout } = process;
  const onData = (bytes: Buffer): void => {
    stdin.pause();
    // A command that has ended reads no more, which is told by its exit code.
    reader.onBytes(bytes).then(
      () => stdin.resume(),
      () => {},
    );
  };
  const onEnd = (): void => reader.onEnd();
  const onResize = (): void => reader.onResize({ columns: stdout.columns, rows: stdout.rows });
  if (isRaw) {
    stdin.setRawMode(true);
    onResize();
    stdout.on("resize", onResize);
  }
  stdin.on("data", onData).on("end", onEnd).resume();
  return {
    takeBack() {
      stdin.off("data", onData).off("end", onEnd).pause();
      stdout.off("resize", onResize);
      if (isRaw) stdin.setRawMode(false);
    },
  };
}

function connectionOf({ kubeconfig, context, as, asGroup }: ConnectionFlags): KubeConnection {
  let connection: KubeConnection | undefined;
  try {
    connection = connectionOfPerson(kubeconfig, context);
  } catch (error) {
    if (error instanceof KubeconfigError) throw new CommandError(error.message);
    throw error;
  }
  if (connection === undefined) {
    throw new CommandError(
      "no kubeconfig: name one with --kubeconfig FILE or KUBECONFIG, or put it at ~/.kube/config",
    );
  }
  if (as === undefined) return connection;
  return { ...connection, impersonate: { user: as, groups: asGroup ?? [] } };
}
