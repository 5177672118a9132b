// `fdb-operator explain` and `kubectl fdb explain`: one page about one cluster, backup or restore, from Kubernetes objects alone.
// Rules: spec/explain.md [E10]-[E15], [E25].
import type { Clock } from "../env/clock.ts";
import { machineClock } from "../env/clock.ts";
import { measuredTransport, ServerClock } from "../kube/server-clock.ts";
import { KubeClient } from "../kube/client.ts";
import { httpsTransport } from "../kube/https.ts";
import { KubeconfigError, connectionOfPerson } from "../kube/kubeconfig.ts";
import type { KubeConnection } from "../kube/kubeconfig.ts";
import { CommandError } from "./command-error.ts";
import { explainCluster } from "./explain-page.ts";
import { readExplainInput } from "./explain-read.ts";
import { backupText, explainBackup, readBackupInput } from "./explain-backup.ts";
import { explainRestore, readRestoreInput, restoreText } from "./explain-restore.ts";
import { subjectOf } from "./explain-subject.ts";
import { renderExplanation, renderPage } from "./explain-text.ts";
import type { TextOptions } from "./explain-text.ts";

export interface ExplainOptions {
  namespace?: string;
  kubeconfig?: string;
  context?: string;
  output: "text" | "json";
}

export async function runExplain(name: string, options: ExplainOptions): Promise<void> {
  const connection = connectionOf(options);
  const transport = httpsTransport(connection, { requestTimeoutMs: 15_000 });
  const clock = machineClock();
  try {
    const serverClock = new ServerClock();
    const measured = measuredTransport(transport, clock, serverClock);
    const client = new KubeClient(measured, { userAgent: "fdb-operator-explain" });
    // Ages are told by the clock of the API server: ours may be wrong, and an emulated one may run faster.
    const serverTime = { nowMs: () => clock.nowMs() + serverClock.aheadMs };
    const key = { name, namespace: options.namespace ?? connection.namespace ?? "default" };
    const text = await explainText(client, key, connection.server, serverTime, options.output, {
      width: process.stdout.isTTY ? process.stdout.columns : 100,
      hasColor: process.stdout.isTTY && process.stdout.hasColors(),
    });
    process.stdout.write(text);
  } finally {
    transport.close();
    clock.stop();
  }
}

export async function explainText(
  client: KubeClient,
  key: { namespace: string; name: string },
  server: string,
  clock: Pick<Clock, "nowMs">,
  output: ExplainOptions["output"],
  options: TextOptions,
): Promise<string> {
  const { kind, name } = subjectOf(key.name);
  const named = { ...key, name };
  if (kind === "restore") {
    const input = await readRestoreInput(client, named, server);
    const page = explainRestore(input, clock.nowMs());
    if (output === "json") return `${JSON.stringify(page, null, 2)}\n`;
    return renderPage(restoreText(page), options);
  }
  if (kind === "backup") {
    const input = await readBackupInput(client, named, server);
    const page = explainBackup(input, clock.nowMs());
    if (output === "json") return `${JSON.stringify(page, null, 2)}\n`;
    return renderPage(backupText(page), options);
  }
  const page = explainCluster(await readExplainInput(client, named, server), clock.nowMs());
  if (output === "json") return `${JSON.stringify(page, null, 2)}\n`;
  return renderExplanation(page, options);
}

export function connectionOf(
  options: Pick<ExplainOptions, "context" | "kubeconfig">,
): KubeConnection {
  try {
    const connection = connectionOfPerson(options.kubeconfig, options.context);
    if (connection !== undefined) return connection;
  } catch (error) {
    if (error instanceof KubeconfigError) throw new CommandError(error.message);
    throw error;
  }
  throw new CommandError(
    "no kubeconfig: name one with --kubeconfig FILE or KUBECONFIG, or put it at ~/.kube/config",
  );
}
