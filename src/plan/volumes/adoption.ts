// Whether claims that hold a database can be taken over: all of this cluster, none missing, and a majority of the
// coordinators among them. Rules: spec/adoption.md [ADO2]-[ADO4].
import { foundationDbClusters } from "../../api/cluster.ts";
import type { ClusterSpec } from "../../api/cluster.ts";
import { labelsOf, sharesDatabase } from "../../api/effective.ts";
import { isNameOfService } from "../../build/pod-environment.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { hasIp, hostOf } from "../../model/address.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { counted } from "../../model/counted.ts";
import { isProcessClass, isStateful } from "../../model/process-class.ts";
import type { ProcessCounts } from "../../model/process-counts.ts";
import type { Snapshot } from "../snapshot.ts";
import { namesOfGroup } from "../view/group-names.ts";
import { nameList } from "../wait.ts";

type Claim = Stored<PersistentVolumeClaim>;
type AdoptionView = Pick<Snapshot, "cluster">;

const beingDeleted = "it is being deleted";

/** What is wrong with the claims, as a sentence; undefined when they can all be of this cluster. */
export function mixtureOf(view: AdoptionView, claims: readonly Claim[]): string | undefined {
  const seen = new Map<string, string>();
  const isChanging = isPrefixChanging(view, claims);
  const wrong = claims.flatMap((claim) => {
    const name = claim.metadata.name ?? "";
    const { id } = subjectOf(view, claim);
    const twin = seen.get(id);
    seen.set(id, name);
    const isFormer = isChanging && isOwn(view, claim);
    const why =
      strangeness(view, claim, isFormer) ?? (twin && `${twin} is of the same process group`);
    return why === undefined ? [] : [`${name}: ${why}`];
  });
  const [first] = wrong;
  if (first === undefined) return undefined;
  const rest = wrong.length === 1 ? "" : `; and ${counted(wrong.length - 1, "claim")} more`;
  return `Of ${counted(claims.length, "volume claim")} that spec.adopt names, some are not of this cluster: ${first}${rest}`;
}

/**
 * What to do when no claim is of this cluster as it is specified, and most of them would be with another prefix: somebody
 * changed it too early. What else is wrong is told afterwards.
 */
export function prefixRemedy(
  { cluster }: AdoptionView,
  claims: readonly Claim[],
): string | undefined {
  const withPrefix = (processGroupIDPrefix: string): AdoptionView => ({
    cluster: { ...cluster, spec: { ...cluster.spec, processGroupIDPrefix } },
  });
  const fitting = (view: AdoptionView): number =>
    claims.filter((claim) => strangeness(view, claim) === undefined).length;
  if (fitting({ cluster }) > 0) return undefined;
  const prefixes = claims.map((claim) => {
    const { id, processClass } = subjectOf({ cluster }, claim);
    return namesOfGroup({ cluster }, id, processClass).prefix;
  });
  const prefix = [...new Set(prefixes)].find(
    (each) => fitting(withPrefix(each)) * 2 > claims.length,
  );
  if (prefix === undefined) return undefined;
  const how =
    prefix === ""
      ? "Take spec.processGroupIDPrefix away"
      : `Set spec.processGroupIDPrefix to "${prefix}"`;
  return `${how}: the volumes were written with that. Once the database is back, it can be changed.`;
}

/**
 * What to do when the first claim that is wrong is being deleted. That cannot be taken back, and its pod holds the volume: whoever
 * starts it anew would lose the data.
 */
export function goingRemedy(view: AdoptionView, claims: readonly Claim[]): string | undefined {
  const isChanging = isPrefixChanging(view, claims);
  const whyOf = (claim: Claim): string | undefined =>
    strangeness(view, claim, isChanging && isOwn(view, claim));
  const first = claims.find((claim) => whyOf(claim) !== undefined);
  if (first === undefined || whyOf(first) !== beingDeleted) return undefined;
  const { id, processClass } = subjectOf(view, first);
  const { podName } = namesOfGroup(view, id, processClass);
  const { volumeName = "its volume" } = first.spec ?? {};
  const { name = "" } = view.cluster.metadata;
  return (
    `The claim goes when pod ${podName} is gone. To keep the data, set persistentVolumeReclaimPolicy of ${volumeName} to Retain, delete the pod, ` +
    `and run \`kubectl fdb volumes rebind ${name}\`. To go on without it, delete the pod, and lower processCounts until the database serves.`
  );
}

/**
 * Claims that are left out although their labels make them process groups of this cluster: their servers would be started with
 * the others. As a sentence.
 */
export function leftOutOf(
  { cluster, pvcs }: Pick<Snapshot, "cluster" | "pvcs">,
  claims: readonly Claim[],
): string | undefined {
  const named = new Set(claims.map(({ metadata }) => metadata.name ?? ""));
  const strays = [...pvcs.values()].flatMap(({ metadata }) => {
    const { name = "", ownerReferences = [], deletionTimestamp } = metadata;
    const isMade = ownerReferences.some(({ uid }) => uid === cluster.metadata.uid);
    return named.has(name) || isMade || deletionTimestamp !== undefined ? [] : [name];
  });
  if (strays.length === 0) return undefined;
  return `spec.adopt does not name ${nameList(strays.sort())}, whose labels are those of this cluster, so that servers would start there as well`;
}

/** It was taken over already, or made for this resource. */
function isOwn({ cluster }: AdoptionView, { metadata }: Claim): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === cluster.metadata.uid) === true;
}

/** Where the resource has claims with its prefix, the others that it has are from before. */
function isPrefixChanging(view: AdoptionView, claims: readonly Claim[]): boolean {
  return claims.some((claim) => isOwn(view, claim) && hasPrefix(view, claim));
}

function hasPrefix(view: AdoptionView, claim: Claim): boolean {
  const { id, processClass } = subjectOf(view, claim);
  return (
    namesOfGroup(view, id, processClass).prefix === (view.cluster.spec.processGroupIDPrefix ?? "")
  );
}

/** Why a claim cannot be one of this cluster, as a clause. One from before a change of the prefix may have another one. */
function strangeness(view: AdoptionView, claim: Claim, isFormer = false): string | undefined {
  const { metadata, spec } = view.cluster;
  const { name, labels = {}, ownerReferences = [], deletionTimestamp } = claim.metadata;
  const { id, processClass } = subjectOf(view, claim);
  for (const [key, value] of Object.entries(labelsOf(view.cluster).matchLabels)) {
    if (labels[key] !== value)
      return `its label ${key} is ${labels[key] ?? "missing"}, not ${value}`;
  }
  if (id === "" || processClass === "") return "its labels name no process group and class";
  if (!isProcessClass(processClass) || !isStateful(processClass)) {
    return `processes of class ${processClass} keep no data`;
  }
  const { prefix, claimName } = namesOfGroup(view, id, processClass);
  const wanted = spec.processGroupIDPrefix ?? "";
  if (prefix !== wanted && !isFormer) {
    return `its process group ${id} has the prefix "${prefix}", not "${wanted}" as spec.processGroupIDPrefix`;
  }
  if (name !== claimName) return `the claim of process group ${id} is called ${claimName}`;
  const owner = ownerReferences.find(
    ({ kind, uid }) => kind === foundationDbClusters.kind && uid !== metadata.uid,
  );
  if (owner !== undefined)
    return `it belongs to another resource, ${owner.name} with uid ${owner.uid}`;
  if (deletionTimestamp !== undefined) return beingDeleted;
  return claim.status?.phase === "Bound" ? undefined : "it has no volume";
}

interface ClaimSubject {
  readonly id: string;
  readonly processClass: string;
}

export function subjectOf({ cluster }: AdoptionView, { metadata }: Claim): ClaimSubject {
  const { processGroupIdLabels, processClassLabels } = labelsOf(cluster);
  const [idLabel = "", classLabel = ""] = [processGroupIdLabels[0], processClassLabels[0]];
  const { labels = {} } = metadata;
  return { id: labels[idLabel] ?? "", processClass: labels[classLabel] ?? "" };
}

/** A seed says nothing here: people give one to bring a database back. */
function isOneOfSeveral(spec: ClusterSpec): boolean {
  const { seedConnectionString: _, ...rest } = spec;
  return (spec.processGroupIDPrefix ?? "") !== "" || sharesDatabase(rest);
}

/** Which classes have fewer claims than they should have process groups, as a sentence. */
export function gapOf(
  view: AdoptionView,
  claims: readonly Claim[],
  counts: ProcessCounts,
): string | undefined {
  const lacking = Object.entries(counts).flatMap(([processClass, wanted]) => {
    if (!isStateful(processClass)) return [];
    const found = claims.filter((claim) => subjectOf(view, claim).processClass === processClass);
    const missing = wanted - found.length;
    return missing <= 0 ? [] : [`${processClass}: ${missing} of ${wanted} are missing`];
  });
  if (lacking.length === 0) return undefined;
  return `spec.adopt names too few volume claims. ${lacking.join("; ")}`;
}

export const coordinatorsRemedy =
  "Put the connection string that the database used last into spec.seedConnectionString: fdb.cluster lies beside the data on each volume. If it is the right one, bring the volume claims of the missing coordinators back.";

/**
 * Which coordinators are not among the volumes, when those that are there are no majority. Addresses tell nothing, nor do names
 * of other instances of the database. A pod of the same name at another place is another one: the volumes are copies, and
 * servers that start on them would join the database that they were copied from.
 */
export function missingCoordinators(
  view: AdoptionView,
  claims: readonly Claim[],
  connectionString: string,
): string | undefined {
  const coordinators = coordinatorsOf(connectionString);
  if (coordinators.some(hasIp)) return undefined;
  const hosts = coordinators.map(hostOf);
  const pods = podsOn(view, claims);
  const isShared = isOneOfSeveral(view.cluster.spec);
  const missing = hosts.filter((host) => {
    const isKnown = pods.has(firstLabel(host));
    if (isNameOfService(view.cluster, host)) return !isKnown;
    return isKnown || !isShared;
  });
  if (missing.length * 2 < hosts.length) return undefined;
  return `Of ${counted(hosts.length, "coordinator")} of the connection string, no majority is among the volume claims that spec.adopt names. Missing: ${nameList(missing)}`;
}

/**
 * How many coordinators of a connection string keep their data on these volumes, as a clause; addresses tell nothing. When coordinators
 * change, a majority of the former ones runs and learns of it, so that no majority of them keeps an older string.
 */
export function coordinatorsHolding(
  view: AdoptionView,
  claims: readonly Claim[],
  connectionString: string,
): string | undefined {
  const coordinators = coordinatorsOf(connectionString);
  if (coordinators.some(hasIp)) return undefined;
  const pods = podsOn(view, claims);
  const held = coordinators
    .map(hostOf)
    .filter((host) => isNameOfService(view.cluster, host) && pods.has(firstLabel(host)));
  return `${held.length} of its ${counted(coordinators.length, "coordinator")}`;
}

function podsOn(view: AdoptionView, claims: readonly Claim[]): ReadonlySet<string> {
  const names = claims.map((claim) => {
    const { id, processClass } = subjectOf(view, claim);
    return namesOfGroup(view, id, processClass).podName;
  });
  return new Set(names);
}

/** Of a name within the cluster: that of its pod. */
function firstLabel(host: string): string {
  return host.split(".")[0] ?? "";
}
