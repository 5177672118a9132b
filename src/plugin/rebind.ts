// `kubectl fdb volumes rebind`: volumes that outlived their claims get claims of the old names again, so that a resource with
// spec.adopt can bring the database back from them. It works with the person's own rights on volumes and claims.
// Rules: spec/adoption.md [ADO9]-[ADO12].
import { isAdopting } from "../api/adoption.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { labelsOf } from "../api/effective.ts";
import { CommandError } from "../env/command-error.ts";
import { isKubeError } from "../kube/error.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../kube/generated/types.ts";
import { persistentVolumeClaims, persistentVolumes } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { counted } from "../model/counted.ts";
import type { WriteFlags } from "./flags.ts";
import { confirm } from "./prompt.ts";
import { commandErrorOf } from "./read-named.ts";
import { readCluster } from "./read-selection.ts";
import { claimFor, subjectOfClaim, volumeRefusal } from "./rebinding.ts";
import type { Rebinding } from "./rebinding.ts";
import type { Session } from "./session.ts";

type Cluster = Stored<FoundationDBCluster>;
type Volume = Stored<PersistentVolume>;
type Claim = Stored<PersistentVolumeClaim>;

export async function runRebind(
  session: Session,
  flags: WriteFlags,
  name: string,
  volumes: readonly string[],
): Promise<void> {
  const { out, namespace } = session;
  const cluster = await readCluster(session, name);
  mustAdopt(cluster);
  const meant = chosen(cluster, await readVolumes(session), namespace, volumes);
  if (meant.length === 0) {
    throw refused(`no volume that outlived its claim is of ${namespace}/${name}`);
  }
  const claims = await readClaims(session);
  const ways = meant.map((volume) => wayOf(cluster, volume, claims));
  for (const { volume, claim, processGroupId } of ways) {
    const [from, to] = [volume.metadata.name ?? "", claim.metadata.name ?? ""];
    out.note(`${from} becomes the volume of ${processGroupId} again, by the claim ${to}\n`);
  }
  const count = counted(ways.length, "volume");
  await confirm(session, `Give ${count} to claims of ${namespace}/${name}`, flags);
  // Somebody may have thought about it for long, and the database may have come back meanwhile.
  mustAdopt(await readCluster(session, name));
  // All claims before the first volume: until every one of them has its volume, the operator starts nothing on any.
  for (const way of ways) await makeClaim(session, way, flags);
  for (const way of ways) await handOver(session, way, flags);
  const verb = flags.dryRun === true ? "would be" : "are";
  out.write(
    `${count} ${verb} given to claims of ${namespace}/${name}; kubectl fdb explain ${name} tells how the database comes back\n`,
  );
}

function refused(why: string): CommandError {
  return new CommandError(`${why}; nothing was changed`);
}

/** Elsewhere a claim that appears is a process group at once, and may be one that the database has let go. */
function mustAdopt(cluster: Cluster): void {
  const name = cluster.metadata.name ?? "";
  if (cluster.metadata.deletionTimestamp !== undefined) throw refused(`${name} is being deleted`);
  const { adopt } = cluster.spec;
  if (adopt === undefined) {
    throw refused(`${name} has no spec.adopt, by which a database comes back from its disks`);
  }
  if (!isAdopting(cluster)) throw refused(`the database of ${name} has been seen already`);
  const own = labelsOf(cluster).matchLabels;
  for (const [key, value] of Object.entries(adopt.volumes.matchLabels)) {
    if ((own[key] ?? value) === value) continue;
    throw refused(
      `spec.adopt.volumes wants the label ${key}=${value}, and what belongs to ${name} has ${own[key] ?? ""}`,
    );
  }
}

/** Those of the cluster, by the names of their old claims; all, or the ones that a person names. */
function chosen(
  cluster: Cluster,
  all: readonly Volume[],
  namespace: string,
  names: readonly string[],
): Volume[] {
  const own = all.filter(({ spec, status }) => {
    const { claimRef } = spec ?? {};
    const isFree = status?.phase === "Released" || status?.phase === "Available";
    return (
      isFree &&
      claimRef?.namespace === namespace &&
      subjectOfClaim(cluster, claimRef.name ?? "") !== undefined
    );
  });
  const unknown = names.find((name) => own.every(({ metadata }) => metadata.name !== name));
  if (unknown !== undefined) {
    const name = cluster.metadata.name ?? "";
    throw refused(`${unknown} is no volume of ${name} that outlived its claim`);
  }
  const meant =
    names.length === 0 ? own : own.filter(({ metadata }) => names.includes(metadata.name ?? ""));
  for (const [claim, volumes] of Map.groupBy(meant, ({ spec }) => spec?.claimRef?.name ?? "")) {
    if (volumes.length < 2) continue;
    const text = volumes
      .map(({ metadata }) => `${metadata.name ?? ""} of ${metadata.creationTimestamp ?? "?"}`)
      .join(", ");
    throw refused(
      `${counted(volumes.length, "volume")} had the claim ${claim}, and nobody can tell which holds the data: ${text}. Name all volumes that you mean`,
    );
  }
  return meant;
}

function wayOf(cluster: Cluster, volume: Volume, claims: ReadonlyMap<string, Claim>): Rebinding {
  const name = volume.metadata.name ?? "";
  const subject = subjectOfClaim(cluster, volume.spec?.claimRef?.name ?? "");
  const claim = subject && claimFor(cluster, subject, volume);
  if (subject === undefined || claim === undefined) throw refused(`${name} has no process group`);
  const existing = claims.get(claim.metadata.name ?? "");
  const why = volumeRefusal(volume, claim, existing);
  if (why !== undefined) throw refused(`${name} cannot be given to a claim: ${why}`);
  return {
    ...{ volume, claim, processGroupId: subject.processGroupID },
    ...(existing && { existing }),
  };
}

async function readVolumes(session: Session): Promise<readonly Volume[]> {
  return asked(session, async () => (await session.client.listAll(persistentVolumes, {})).items);
}

async function readClaims(session: Session): Promise<ReadonlyMap<string, Claim>> {
  const { client, namespace } = session;
  const { items } = await asked(session, () =>
    client.listAll(persistentVolumeClaims, { namespace }),
  );
  return new Map(items.map((claim) => [claim.metadata.name ?? "", claim]));
}

/** One that a run before has made is left as it is. */
async function makeClaim(
  session: Session,
  { claim, existing }: Rebinding,
  { dryRun = false }: WriteFlags,
): Promise<void> {
  if (existing !== undefined) return;
  await written(session, () => session.client.create(persistentVolumeClaims, claim, { dryRun }));
}

/** Without a uid it is for whoever has the name: the new claim, which names the volume in its turn. */
async function handOver(
  session: Session,
  { volume, claim }: Rebinding,
  { dryRun = false }: WriteFlags,
): Promise<void> {
  const { claimRef } = volume.spec ?? {};
  if (claimRef?.uid === undefined) return;
  const { namespace, name } = claim.metadata;
  const value = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name };
  const body = [
    { op: "test", path: "/metadata/uid", value: volume.metadata.uid },
    { op: "test", path: "/spec/claimRef/uid", value: claimRef.uid },
    { op: "replace", path: "/spec/claimRef", value },
  ];
  const key = { name: volume.metadata.name ?? "" };
  await written(session, () =>
    session.client.patch(persistentVolumes, key, body, { type: "json", dryRun }),
  );
}

async function asked<T>({ server }: Session, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!isKubeError(error)) throw error;
    throw commandErrorOf(error, server);
  }
}

/** What was done before it stands, and does no harm: the operator waits for the rest. */
async function written<T>(session: Session, request: () => Promise<T>): Promise<T> {
  try {
    return await asked(session, request);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(`${error.message}; run the command again, which goes on from here`);
  }
}
