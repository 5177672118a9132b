// `fdb-operator explain` and `kubectl fdb explain`: one page about one cluster, backup or restore, from Kubernetes objects alone.
// Rules: spec/explain.md [E10]-[E15], [E25].
import type { Clock } from "../../env/clock.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Session } from "../session.ts";
import { explainCluster } from "./page.ts";
import { readExplainInput } from "./read.ts";
import { backupText, explainBackup, readBackupInput } from "./backup.ts";
import { explainRestore, readRestoreInput, restoreText } from "./restore.ts";
import { subjectOf } from "./subject.ts";
import { renderExplanation, renderPage } from "./text.ts";
import type { TextOptions } from "./text.ts";

export interface ExplainOptions {
  output: "text" | "json";
}

export async function runExplain(
  { client, namespace, server, serverNowMs, out }: Session,
  name: string,
  { output }: ExplainOptions,
): Promise<void> {
  const clock = { nowMs: serverNowMs };
  out.write(await explainText(client, { name, namespace }, server, clock, output, out));
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
