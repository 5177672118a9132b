// `kubectl fdb quarantine`: volumes of removed process groups that wait before they are deleted, and how one is given back.
// It works with the person's own rights on the claims. Rules: spec/quarantine.md [QUA10], [QUA11].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { quarantineLabel, quarantineNoteOf, restoringPatch } from "../build/quarantine.ts";
import type { QuarantineNote } from "../build/quarantine.ts";
import { CommandError } from "../env/command-error.ts";
import type { PersistentVolumeClaim } from "../kube/generated/types.ts";
import { isKubeError } from "../kube/error.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import { persistentVolumeClaims, pods } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { formatTime } from "../kube/time.ts";
import { isMarkedForRemoval } from "../model/process-group.ts";
import { isQuarantineOver, keptBecause, quarantineEndMs } from "../plan/safety/quarantine.ts";
import type { OutputForm, WriteFlags } from "./flags.ts";
import { print } from "./print.ts";
import { confirm } from "./prompt.ts";
import { commandErrorOf } from "./read-named.ts";
import { readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";
import { tableLines } from "./text/table.ts";

type Claim = Stored<PersistentVolumeClaim>;
type Cluster = Stored<FoundationDBCluster>;

export interface QuarantineRow {
  readonly claim: string;
  readonly cluster: string;
  readonly processGroupID?: string;
  readonly size: string;
  readonly since?: string;
  /** Absent when nothing deletes it. */
  readonly until?: string;
  readonly note: string;
}

export async function runQuarantineList(
  session: Session,
  names: readonly string[],
  flags: { output: OutputForm },
): Promise<void> {
  const clusters = new Map<string, Cluster | undefined>();
  const quarantineUsers = await usersOf(session);
  const rows: QuarantineRow[] = [];
  for (const claim of await claimsOf(session, names)) {
    const name = claim.metadata.labels?.[quarantineLabel] ?? "";
    if (!clusters.has(name)) clusters.set(name, await findCluster(session, name));
    const cluster = clusters.get(name);
    rows.push(rowOf(session, claim, name, cluster && { cluster, quarantineUsers }));
  }
  const text = (): string =>
    rows.length === 0
      ? `no volume waits in quarantine in namespace ${session.namespace}\n`
      : `${tableLines(columns, rows.map(cellsOf), session.out).join("\n")}\n`;
  print(session, flags.output, rows, text);
}

const columns = [
  { title: "CLAIM" },
  { title: "CLUSTER", widthMin: 8, spare: 2 },
  { title: "PROCESS GROUP", widthMin: 12, spare: 3 },
  { title: "SIZE", isRight: true, spare: 4 },
  { title: "SINCE", spare: 1 },
  { title: "UNTIL" },
  { title: "WHAT", widthMin: 12, isProse: true },
] as const;

function cellsOf(row: QuarantineRow): string[] {
  const { claim, cluster, processGroupID = "", size, since = "", until = "", note } = row;
  return [claim, cluster, processGroupID, size, since, until, note || " "];
}

/** The names of pods by the claims that they use: a person may have one of their own on it. */
async function usersOf({ client, namespace }: Session): Promise<ReadonlyMap<string, string>> {
  const { items } = await client.listAll(pods, { namespace });
  return new Map(
    items.flatMap(({ metadata, spec }) =>
      (spec?.volumes ?? []).map(({ persistentVolumeClaim }): [string, string] => [
        persistentVolumeClaim?.claimName ?? "",
        metadata.name ?? "",
      ]),
    ),
  );
}

function rowOf(
  session: Session,
  claim: Claim,
  name: string,
  view: Parameters<typeof keptBecause>[0] | undefined,
): QuarantineRow {
  const note = quarantineNoteOf(claim);
  const known = {
    claim: claim.metadata.name ?? "",
    cluster: name,
    ...(note && { processGroupID: note.processGroupID, since: note.since }),
    size: String(claim.status?.capacity?.["storage"] ?? ""),
  };
  if (view === undefined) return { ...known, note: "its cluster is gone: nothing deletes it" };
  const kept = keptBecause(view, claim);
  if (kept !== undefined || note === undefined) return { ...known, note: `kept: ${kept ?? ""}` };
  const dated = { cluster: view.cluster, nowMs: session.serverNowMs() };
  const isOver = isQuarantineOver(dated, claim);
  const until = formatTime(quarantineEndMs(dated, note));
  return { ...known, until, note: isOver ? "goes while the database is well" : "" };
}

export interface RestoreVolumeFlags extends WriteFlags {
  fdbCluster: string;
}

export async function runQuarantineRestore(
  session: Session,
  flags: RestoreVolumeFlags,
  names: readonly string[],
): Promise<void> {
  const cluster = await readCluster(session, flags.fdbCluster);
  const claims = await claimsOf(session, [flags.fdbCluster]);
  const meant = [...new Set(names)].map((name) => {
    const claim = claims.find(
      (each) => each.metadata.name === name || quarantineNoteOf(each)?.processGroupID === name,
    );
    if (claim === undefined) {
      throw new CommandError(
        `no volume ${name} of ${flags.fdbCluster} waits in quarantine (kubectl fdb quarantine list); nothing was changed`,
      );
    }
    const note = noteFor(cluster, claim);
    return { claim, note };
  });
  const ids = meant.map(({ note }) => note.processGroupID).join(", ");
  await confirm(session, `${warningOf(meant)}Give the volumes of ${ids} back`, flags);
  for (const { claim, note } of meant) await giveBack(session, cluster, claim, note, flags);
}

/** FoundationDB throws away what is on the disk of a storage server that it has let go. */
function warningOf(meant: readonly { note: QuarantineNote }[]): string {
  const proven = meant.filter(({ note }) => note.proof === "certificate");
  if (proven.length === 0) return "";
  const ids = proven.map(({ note }) => note.processGroupID).join(", ");
  return (
    `The database has let ${ids} go: when its process starts, it throws away the old data on the volume. ` +
    "Take a snapshot of the volume first if you need it.\n"
  );
}

/** Whether it makes sense to give it back; throws with the reason when it does not. */
function noteFor(cluster: Cluster, claim: Claim): QuarantineNote {
  const note = quarantineNoteOf(claim);
  const problem =
    note === undefined ? "its note cannot be read" : restoringProblem(cluster, claim, note);
  if (note !== undefined && problem === undefined) return note;
  throw new CommandError(
    `${claim.metadata.name ?? ""} cannot be given back: ${problem ?? ""}; nothing was changed`,
  );
}

export function restoringProblem(
  { metadata, spec, status }: FoundationDBCluster,
  claim: Claim,
  note: QuarantineNote,
): string | undefined {
  const id = note.processGroupID;
  if (metadata.deletionTimestamp !== undefined) return `${metadata.name ?? ""} is being deleted`;
  if (claim.metadata.deletionTimestamp !== undefined) return "it is being deleted";
  if (claim.status?.phase !== "Bound") return "it has no volume";
  if (note.claim !== claim.metadata.uid || note.volume !== claim.spec?.volumeName) {
    return "its note is of another claim";
  }
  if (note.cluster !== metadata.uid) return "it was taken from another resource of this name";
  const group = status?.processGroups?.find((each) => each.processGroupID === id);
  if (group !== undefined) {
    return isMarkedForRemoval(group)
      ? `the removal of process group ${id} is not over yet, which takes minutes`
      : `there is a process group ${id}`;
  }
  const toGo = [spec.processGroupsToRemove, spec.processGroupsToRemoveWithoutExclusion];
  if (toGo.some((ids) => ids?.includes(id) === true)) {
    return `the resource asks for the removal of ${id}: take it out of processGroupsToRemove first`;
  }
  return undefined;
}

async function giveBack(
  { client, namespace, out, server }: Session,
  cluster: Cluster,
  claim: Claim,
  note: QuarantineNote,
  { dryRun = false }: WriteFlags,
): Promise<void> {
  const name = claim.metadata.name ?? "";
  const body = restoringPatch(claim, note, cluster);
  try {
    await client.patch(persistentVolumeClaims, { namespace, name }, body, {
      type: "merge",
      dryRun,
    });
  } catch (error) {
    if (!isKubeError(error)) throw error;
    if (error.reason !== "Conflict" && error.reason !== "NotFound") {
      throw commandErrorOf(error, server);
    }
    throw new CommandError(`${name} was changed or deleted meanwhile; look again`);
  }
  out.write(
    `${namespace}/${name}: ${dryRun ? "would be" : "is"} the volume of ${note.processGroupID} again\n`,
  );
}

async function claimsOf(
  { client, namespace }: Session,
  clusters: readonly string[],
): Promise<Claim[]> {
  const labelSelector =
    clusters.length === 0 ? quarantineLabel : `${quarantineLabel} in (${clusters.join(",")})`;
  const { items } = await client.listAll(persistentVolumeClaims, { namespace, labelSelector });
  const nameOf = ({ metadata }: Claim): string => metadata.name ?? "";
  return items.toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}

function findCluster({ client, namespace }: Session, name: string): Promise<Cluster | undefined> {
  return client.find(foundationDbClusters, { namespace, name });
}
