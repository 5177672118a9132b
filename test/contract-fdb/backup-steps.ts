// Steps that the cases of backups share: commands of the tools, what the status shows, and waiting for it.
import assert from "node:assert/strict";
import type { BackupPlace, BackupTools, ToolOutput, ToolSet } from "./backup-tools.ts";
import type { DatabaseTarget } from "./database-case.ts";

export function toolsOf(target: DatabaseTarget): BackupTools {
  assert.ok(target.tools !== undefined, "there are no backup tools");
  return target.tools;
}

export function backup(target: DatabaseTarget, ...args: readonly string[]): Promise<ToolOutput> {
  const tools = toolsOf(target);
  const [command = "", ...rest] = args;
  return tools.run("fdbbackup", [command, "-C", tools.clusterFile, ...rest]);
}

export function restore(target: DatabaseTarget, ...args: readonly string[]): Promise<ToolOutput> {
  return restoreInto(toolsOf(target), ...args);
}

export function restoreInto(tools: ToolSet, ...args: readonly string[]): Promise<ToolOutput> {
  const [command = "", ...rest] = args;
  return tools.run("fdbrestore", [command, "--dest-cluster-file", tools.clusterFile, ...rest]);
}

export interface Shown {
  UID: string;
  Status: { Name: string };
  Restorable: boolean;
  BackupAgentsPaused: boolean;
  DestinationURL: string;
  LatestRestorablePoint?: { Version: number; EpochSeconds?: number };
}

export async function statusOf(target: DatabaseTarget, tag: string): Promise<Shown> {
  const { code, stdout } = await backup(target, "status", "-t", tag, "--json");
  assert.equal(code, 0);
  return JSON.parse(stdout) as Shown;
}

export function restorableTo(shown: Shown): number {
  return shown.LatestRestorablePoint?.Version ?? 0;
}

/** Looks until it is so, and does something between two looks. */
export async function untilStatus(
  target: DatabaseTarget,
  tag: string,
  isSo: (shown: Shown) => boolean,
  meanwhile: () => Promise<void> = async () => {},
): Promise<Shown> {
  for (let look = 0; look < 120; look += 1) {
    const shown = await statusOf(target, tag);
    if (isSo(shown)) return shown;
    await meanwhile();
    await target.pass(1);
  }
  assert.fail(`the backup on tag ${tag} is still ${JSON.stringify(await statusOf(target, tag))}`);
}

export interface Described {
  Restorable: boolean;
  Snapshots: { Start: { Version: number }; End: { Version: number }; Restorable: boolean }[];
  MinRestorablePoint?: { Version: number };
  MaxRestorablePoint?: { Version: number };
  MaxLogEnd: { Version: number };
}

export async function describe(
  target: DatabaseTarget,
  place: BackupPlace,
  url: string,
  ...more: readonly string[]
): Promise<Described> {
  const { code, stdout, stderr } = await backup(
    target,
    "describe",
    ...["-d", url, "--json", ...place.credentials, ...more],
  );
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Described;
}
