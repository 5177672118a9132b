// `kubectl fdb backup describe NAME`: where a backup lies and what can be restored. As YAML it is a FoundationDBRestore that
// needs nothing of this Kubernetes cluster, to be kept elsewhere. Rules: spec/backup.md [BK135].
import { foundationDbBackups } from "../api/backup.ts";
import type { FoundationDBBackup } from "../api/backup.ts";
import { apiVersion } from "../api/cluster.ts";
import { foundationDbRestores } from "../api/restore.ts";
import type { FoundationDBRestore, RestoreSpec } from "../api/restore.ts";
import { backupUrl, hasSecret, maskedUrl, runUrl } from "../build/backup-url.ts";
import type { KubeClient } from "../kube/client.ts";
import { configMaps } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { formatTimeMap, parseTimeMap, timeMapName } from "../model/backup-time-map.ts";
import type { TimePair } from "../model/backup-time-map.ts";
import { UsageError } from "../env/command-error.ts";
import { readNamed } from "../plugin/read-named.ts";
import type { Session } from "../plugin/session.ts";
import { subjectOf } from "../plugin/explain/subject.ts";

export interface DescribeOptions {
  output: "text" | "yaml";
}

export async function runBackupDescribe(
  { client, namespace, server, out }: Session,
  name: string,
  { output }: DescribeOptions,
): Promise<void> {
  const subject = subjectOf(name, "backup");
  if (subject.kind !== "backup") throw new UsageError(`${name} is no backup`);
  out.write(await describeText(client, { name: subject.name, namespace }, server, output));
}

export async function describeText(
  client: KubeClient,
  key: { namespace: string; name: string },
  server: string,
  output: DescribeOptions["output"],
): Promise<string> {
  const { backup, pairs } = await readBackup(client, key, server);
  if (output === "text") return plainText(backup, pairs);
  const { stringify } = await import("yaml");
  return `${headOf(backup)}${stringify(restoreOf(backup, pairs), { lineWidth: 0 })}`;
}

interface Described {
  backup: Stored<FoundationDBBackup>;
  pairs: readonly TimePair[];
}

async function readBackup(
  client: KubeClient,
  { namespace, name }: { namespace: string; name: string },
  server: string,
): Promise<Described> {
  const backup = await readNamed(client, foundationDbBackups, { namespace, name }, server);
  const map = await client.find(configMaps, { namespace, name: timeMapName(name) });
  return { backup, pairs: parseTimeMap(map?.data) };
}

/** Of a schedule the newest run that succeeded. */
function nameOf({ metadata, spec, status }: FoundationDBBackup): string {
  const run = status?.runs?.findLast(({ result }) => result === "Succeeded");
  return run?.backupName ?? (spec.blobStoreConfiguration?.backupName || (metadata.name ?? ""));
}

function linesOf(pairs: readonly TimePair[]): string[] {
  const text = Object.values(formatTimeMap(pairs)).join("");
  return text.split("\n").filter((line) => line !== "");
}

/** All that the restore takes from the backup when both are there. */
export function restoreOf(
  backup: FoundationDBBackup,
  pairs: readonly TimePair[],
): FoundationDBRestore {
  const { spec } = backup;
  const { blobStoreConfiguration: store, podTemplateSpec, imageType, allowTagOverride } = spec;
  const { mainContainer, sidecarContainer, customParameters, encryptionKeyPath } = spec;
  const agents: RestoreSpec["agents"] = {
    ...(podTemplateSpec === undefined ? {} : { podTemplateSpec }),
    ...(imageType === undefined ? {} : { imageType }),
    ...(allowTagOverride === undefined ? {} : { allowTagOverride }),
    ...(mainContainer === undefined ? {} : { mainContainer }),
    ...(sidecarContainer === undefined ? {} : { sidecarContainer }),
  };
  const destination = store && {
    ...store,
    accountName: store.accountName.replace(/^([^:@]*):[^@]*@/, "$1:***@"),
    backupName: nameOf(backup),
  };
  return {
    apiVersion,
    kind: foundationDbRestores.kind,
    metadata: { name: backup.metadata.name ?? "" },
    spec: {
      destinationClusterName: spec.clusterName,
      ...(destination === undefined ? {} : { blobStoreConfiguration: destination }),
      ...(Object.keys(agents).length === 0 ? {} : { agents }),
      ...(customParameters === undefined ? {} : { customParameters }),
      ...(encryptionKeyPath === undefined ? {} : { encryptionKeyPath }),
      ...(pairs.length === 0 ? {} : { timeline: linesOf(pairs) }),
    },
  };
}

function headOf(backup: FoundationDBBackup): string {
  const { name = "", namespace = "" } = backup.metadata;
  const lines = [
    `Restores the backup ${namespace}/${name} when this Kubernetes cluster is gone: keep it elsewhere, and renew it now and then.`,
    "It restores the newest point; spec.to takes a version or a time. The Secrets that the agents mount are not part of it.",
    windowText(backup),
    ...(hasSecret(backup.spec.blobStoreConfiguration)
      ? ["The secret of accountName is left out: write it in place of ***."]
      : []),
  ];
  return lines.map((line) => `# ${line}\n`).join("");
}

function windowText({ status }: FoundationDBBackup): string {
  const { from, to } = status?.restorable ?? {};
  if (to === undefined) return "Nothing can be restored yet.";
  const point = (of: typeof to | undefined): string =>
    `version ${of?.version ?? 0}${of?.time === undefined ? "" : ` (${of.time})`}`;
  return `Restorable from ${point(from)} to ${point(to)}, as of the last look.`;
}

function plainText(backup: FoundationDBBackup, pairs: readonly TimePair[]): string {
  const { metadata, spec, status } = backup;
  const url = status?.runs === undefined ? backupUrl(backup) : runUrl(backup, nameOf(backup));
  const runs = (status?.runs ?? []).map(({ time, result, backupName, message }) =>
    [`  ${time}  ${result.padEnd(9)}  ${backupName}`, message ?? ""].join("  ").trimEnd(),
  );
  const lines = linesOf(pairs);
  const [first, last] = [lines[0], lines.at(-1)];
  return [
    `${metadata.namespace ?? ""}/${metadata.name ?? ""}  backup of ${spec.clusterName}`,
    `Lies at ${maskedUrl(url ?? "")}`,
    windowText(backup),
    first === undefined
      ? "No times are known yet: a restore to a time needs the database itself."
      : `Times are known from ${first.split(" ")[0]} to ${last?.split(" ")[0]} (${pairs.length} pairs).`,
    ...(runs.length === 0 ? [] : ["Runs:", ...runs]),
    "",
  ].join("\n");
}
