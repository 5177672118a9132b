// Looks at automatic replacements: however many process groups fail at once, in each bucket no more are replaced by the
// operator's own decision than its limit allows. Rules: spec/world.md [W97].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { serversPerPod } from "../../api/effective.ts";
import { wantedCounts } from "../../api/wanted-counts.ts";
import type { Event } from "../../kube/generated/types.ts";
import { hostOf } from "../../model/address.ts";
import { isLogProcess, isTransactionSystem } from "../../model/process-class.ts";
import { redundancyOf } from "../../model/redundancy.ts";

type Groups = NonNullable<NonNullable<FoundationDBCluster["status"]>["processGroups"]>;
type Group = Groups[number];

/** What one write of the status marked for removal, and what was on its way out already. */
interface Marking {
  readonly cluster: FoundationDBCluster;
  readonly fresh: ReadonlySet<string>;
  readonly earlier: Groups;
  /** Those of them that the operator replaces because they failed. */
  readonly automatic: Set<string>;
}

export class BucketWatch {
  readonly #violated: (text: string) => void;
  readonly #latest = new Map<string, Groups>();
  /** The newest one that marked the group. */
  readonly #markings = new Map<string, Marking>();
  /** Hosts of which a person excluded one port: to the operator that is no exclusion of the process group. */
  readonly #partlyExcluded = new Set<string>();

  constructor(violated: (text: string) => void) {
    this.#violated = violated;
  }

  /** By a person, of one address with its port. */
  noteExclusion(address: string): void {
    this.#partlyExcluded.add(hostOf(address));
  }

  noteCluster(cluster: FoundationDBCluster): void {
    const name = cluster.metadata.name ?? "";
    const groups = cluster.status?.processGroups ?? [];
    const before = new Set(
      inFlight(this.#latest.get(name) ?? []).map((group) => group.processGroupID),
    );
    this.#latest.set(name, groups);
    const marked = inFlight(groups);
    // A mark that is gone, by a lost status for example, says nothing about a later one.
    for (const group of groups) {
      if (!marked.includes(group)) this.#markings.delete(group.processGroupID);
    }
    const fresh = marked.filter(({ processGroupID }) => !before.has(processGroupID));
    if (fresh.length === 0) return;
    const marking: Marking = {
      cluster,
      fresh: new Set(fresh.map(({ processGroupID }) => processGroupID)),
      earlier: marked.filter(({ processGroupID }) => before.has(processGroupID)),
      automatic: new Set(),
    };
    for (const id of marking.fresh) this.#markings.set(id, marking);
  }

  /** Only the event tells that a group is replaced because it failed: its cause has a beginning. */
  noteEvent({ reason, message }: Event): void {
    const [, id = ""] = /^Replacing (\S+): \S+ since /.exec(message ?? "") ?? [];
    const marking = this.#markings.get(id);
    if (reason !== "ReplacingProcesses" || marking === undefined) return;
    marking.automatic.add(id);
    const bucket = bucketOf(marking.cluster, id);
    const isInBucket = (each: string): boolean => bucketOf(marking.cluster, each) === bucket;
    const held = marking.earlier.filter((group) => {
      const serves = isServing(group) && !this.#isExcluded(marking.cluster, group);
      return isInBucket(group.processGroupID) && !mayGiveWay(marking.cluster, group, id, serves);
    });
    const taken = groupsIn(marking.cluster, [...marking.automatic].filter(isInBucket));
    const limit = limitOf(marking.cluster, bucket);
    if (placesOf(marking.cluster, [...held, ...taken]) > limit) {
      const [count, before] = [taken.length, held.length];
      this.#violated(
        `${id} is replaced, the ${count}. in bucket ${bucket} of ${limit} with ${before} in it`,
      );
    }
  }

  /** As a whole; of several processes in a pod perhaps one alone is. */
  #isExcluded({ spec }: FoundationDBCluster, group: Group): boolean {
    const isPartly = group.addresses?.some((address) => this.#partlyExcluded.has(hostOf(address)));
    return serversIn(spec, group) === 1 && isPartly !== true && isMarkedAsExcluded(group);
  }
}

function inFlight(groups: Groups): Groups {
  return groups.filter(
    ({ removalTimestamp, exclusionTimestamp, exclusionSkipped }) =>
      removalTimestamp !== undefined &&
      exclusionTimestamp === undefined &&
      exclusionSkipped !== true,
  );
}

/** It waits for a class that is stuck, its own or another one of the transaction system, and somebody waits for the failed one. */
function mayGiveWay(
  cluster: FoundationDBCluster,
  group: Group,
  failed: string,
  serves: boolean,
): boolean {
  const names = new Set((cluster.status?.processGroups ?? []).map((each) => each.processClass));
  const waiting = [...names]
    .map((processClass) => classNow(cluster, processClass, failed))
    .filter(({ isWaitedFor }) => isWaitedFor);
  const short = waiting.filter((each) => isShort(cluster, each)).map(nameOf);
  const tooFewZones = waiting.filter((each) => lacksZones(cluster, each)).map(nameOf);
  const waitsFor = (processClass: string): boolean =>
    processClass === group.processClass
      ? serves
      : isTransactionSystem(processClass) && isTransactionSystem(group.processClass);
  return (
    [...short, ...tooFewZones].includes(classOf(cluster, failed)) &&
    (short.some(waitsFor) || tooFewZones.includes(group.processClass))
  );
}

/** A class as it is before a failed one of it is replaced. */
interface ClassNow {
  readonly processClass: string;
  /** Somebody of it has failed, and somebody leaves. */
  readonly isWaitedFor: boolean;
  readonly staying: Groups;
  /** Leaving ones too. */
  readonly reporting: Groups;
}

function nameOf({ processClass }: ClassNow): string {
  return processClass;
}

function classNow({ status }: FoundationDBCluster, processClass: string, failed: string): ClassNow {
  const ofClass = (status?.processGroups ?? []).filter(
    (group) => group.processClass === processClass,
  );
  const isLeaving = (one: Group): boolean => one.removalTimestamp !== undefined;
  const others = ofClass.filter(({ processGroupID }) => processGroupID !== failed);
  // The failed one is marked by the same write.
  const staying = ofClass.filter((one) => !isLeaving(one) || !others.includes(one));
  const hasFailed = staying.some((one) => !others.includes(one) || !isServing(one));
  // Of several processes in a pod one or all may be excluded, which the status does not tell: both are taken to be possible.
  const reporting = others.filter((one) => isServing(one) && !isMarkedAsExcluded(one));
  return { processClass, isWaitedFor: hasFailed && others.some(isLeaving), staying, reporting };
}

/** It has nobody to spare for an exclusion. */
function isShort(
  { spec }: FoundationDBCluster,
  { processClass, staying, reporting }: ClassNow,
): boolean {
  const counts: Readonly<Record<string, number | undefined>> = wantedCounts(spec);
  const wanted = counts[processClass] ?? 0;
  const { faultTolerance } = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  const toCome = Math.max(0, wanted - staying.length);
  return reporting.length + toCome + faultTolerance <= wanted;
}

/** Those that stay and report are in fewer zones than the mode needs. Of halls the status tells too little. */
function lacksZones(
  { spec }: FoundationDBCluster,
  { processClass, staying, reporting }: ClassNow,
): boolean {
  if (processClass !== "storage" && !isLogProcess(processClass)) return false;
  const mode = spec.databaseConfiguration?.redundancy_mode;
  const { minimumFaultDomains, spreadLocality } = redundancyOf(mode);
  const domains = staying
    .filter((one) => reporting.includes(one))
    .flatMap(({ faultDomain }) => faultDomain ?? []);
  return spreadLocality !== undefined || new Set(domains).size < minimumFaultDomains;
}

/** It reports, and its exclusion is not noted as begun. */
function isServing({ processGroupConditions = [], exclusionTimestamp }: Group): boolean {
  const away = ["MissingProcesses", "MissingPod", "ResourcesTerminating"];
  const isAway = processGroupConditions.some(({ type }) => away.includes(type ?? ""));
  return !isAway && exclusionTimestamp === undefined;
}

function isMarkedAsExcluded({ processGroupConditions = [] }: Group): boolean {
  return processGroupConditions.some(({ type }) => type === "ProcessIsMarkedAsExcluded");
}

/** Of its pod as it is: the spec may want another number by now. */
function serversIn(spec: FoundationDBCluster["spec"], group: Group): number {
  const { processClass, diskLayout } = group;
  if (diskLayout === undefined) return serversPerPod(spec, processClass);
  return diskLayout === "root" ? 1 : Number(diskLayout);
}

type Bucket = "general" | "storage" | "log" | "stateless";

function replacementsOf({ spec }: FoundationDBCluster) {
  return spec.automationOptions?.replacements ?? {};
}

function bucketOf(cluster: FoundationDBCluster, id: string): Bucket {
  if (replacementsOf(cluster).replacementBucket?.enabled !== true) return "general";
  const processClass = classOf(cluster, id);
  if (processClass === "storage") return "storage";
  return ["log", "transaction"].includes(processClass) ? "log" : "stateless";
}

function classOf({ status }: FoundationDBCluster, id: string): string {
  return status?.processGroups?.find((each) => each.processGroupID === id)?.processClass ?? "";
}

function groupsIn({ status }: FoundationDBCluster, ids: readonly string[]): Groups {
  return (status?.processGroups ?? []).filter(({ processGroupID }) => ids.includes(processGroupID));
}

/** Of fault domains where those are counted; one that nobody knows is shared with nobody. */
function placesOf(cluster: FoundationDBCluster, groups: Groups): number {
  if (replacementsOf(cluster).faultDomainBasedReplacements !== true) return groups.length;
  const domains = groups.map(({ faultDomain, processGroupID }) => faultDomain || processGroupID);
  return new Set(domains).size;
}

function limitOf(cluster: FoundationDBCluster, bucket: Bucket): number {
  const { maxConcurrentReplacements = 1, replacementBucket } = replacementsOf(cluster);
  return bucket === "general" ? maxConcurrentReplacements : (replacementBucket?.[bucket] ?? 1);
}
