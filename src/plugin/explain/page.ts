// What is to be said about a cluster, as data: whether it serves, what is being done, what waits for what, and what a
// person can do. A pure function of Kubernetes objects and the time. Rules: spec/explain.md [E1]-[E9].
import { conditionIn } from "../../kube/condition.ts";
import { deletionProtection } from "../../api/cluster.ts";
import { isHibernated } from "../../api/hibernation.ts";
import { mostOf } from "../../env/long-lists.ts";
import type { Advice } from "../../api/advice.ts";
import type { BlockedBy } from "../../api/blocked-by.ts";
import type { Condition, FoundationDBCluster, ProcessGroupStatus } from "../../api/cluster.ts";
import type { QuarantineEntry } from "../../api/cluster-status.ts";
import type { Event, Node, PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime, parseTime } from "../../kube/time.ts";
import { isDeletionHeld } from "../../plan/removal/protect-from-deletion.ts";
import { isOutdatedCondition } from "../../model/group-state.ts";
import { hasCondition } from "../../model/process-group.ts";
import { podNameOf } from "../../model/process-group-id.ts";
import { nameList } from "../../plan/wait.ts";
import { concernAt } from "../../plan/reasons/concern.ts";
import type { Concern } from "../../plan/reasons/reason.ts";
import { groupTroubles, meaningOf } from "./groups.ts";
import type { GroupTrouble } from "./groups.ts";
import { objectTroubles, recentEvents } from "./objects.ts";
import type { ObjectTrouble, ToldEvent } from "./objects.ts";
import { migrationText } from "./migration.ts";
import { outrunBy } from "./outrun.ts";
import type { Outrun } from "./outrun.ts";
import { podsById, withPodsSeen } from "./seen-since.ts";
import type { SeenInDatabase } from "./seen-since.ts";
import { staleFacts } from "./staleness.ts";
import { asSentence, formatAge } from "./words.ts";

/** Everything that the page rests on. Lists that could not be read are undefined and named in `unread`. */
export interface ExplainInput {
  cluster: Stored<FoundationDBCluster>;
  pods: readonly Stored<Pod>[] | undefined;
  pvcs: readonly Stored<PersistentVolumeClaim>[] | undefined;
  events: readonly Stored<Event>[] | undefined;
  /** Those on which the pods are, as far as one may look at them. */
  nodes: readonly Stored<Node>[] | undefined;
  /** What the database says itself, where it was asked. */
  database?: SeenInDatabase;
  /** What could not be read, and why. */
  unread: readonly string[];
}

export type Verdict =
  | "deleting"
  | "unseen"
  | "paused"
  | "asleep"
  | "unknown"
  | "invalid"
  | "down"
  | "starting"
  | "stuck"
  | "degraded"
  | "working"
  | "healthy";

export interface ExplainedFact {
  answer: "yes" | "no" | "unknown";
  text: string;
  /** Since when the answer is so. */
  since?: string;
}

export interface ExplainedWait {
  step: string;
  reason: string;
  message: string;
  object?: string;
  since?: string;
  retryAt?: string;
  remedy?: string;
  concern: Concern;
}

export interface ExplainPage {
  cluster: string;
  namespace: string;
  /** The time at which the page was made. */
  asOf: string;
  verdict: Verdict;
  headline: string;
  version: { wanted: string; running?: string };
  redundancyMode: string;
  serving: ExplainedFact;
  /** Whether all data has all its copies and all processes run. */
  sound: ExplainedFact;
  /** Whether everything is as the resource wants it. */
  reconciled: ExplainedFact & { generation: number; reconciledGeneration?: number };
  /** What works, but less safely than it could. */
  warning?: string;
  /** What could be better, and how. */
  advice: readonly Advice[];
  doing: readonly string[];
  /** Storage servers that change to another engine. */
  migration?: string;
  waits: readonly ExplainedWait[];
  /** What the operator has done since it wrote down what it waits for. */
  outrun?: Outrun;
  processGroups: { total: number; inTrouble: number; troubles: readonly GroupTrouble[] };
  /** Volumes of process groups that are gone, which wait before they are deleted. */
  quarantine: readonly QuarantineEntry[];
  /** What Kubernetes says of the pods and volumes of the cluster. */
  objects: readonly ObjectTrouble[];
  recent: readonly ToldEvent[];
  /** Why what is reported may not be so any more; empty when it is fresh. */
  stale: readonly string[];
  unread: readonly string[];
}

/** How a headline tells since when it is so: a page that goes on needs a time, since an age does not stay true. */
export type Lasting = "age" | "none" | "time";

export function explainCluster(
  input: ExplainInput,
  nowMs: number,
  lasting: Lasting = "age",
): ExplainPage {
  const { cluster } = input;
  const { metadata, spec, status = {} } = cluster;
  const stale = staleFacts(input, nowMs);
  const isStale = stale.length > 0;
  const waits = explainedWaits(cluster, nowMs);
  const facts = {
    serving: servingFact(cluster, isStale),
    sound: soundFact(cluster, isStale),
    reconciled: reconciledFact(cluster, isStale),
  };
  const verdict = verdictOf(input, facts, waits, isStale);
  const groups = groupsSeen(input);
  const troubles = groupTroubles(groups);
  const recent = recentEvents(cluster, input.events, nowMs);
  const outrun = waits.length === 0 ? undefined : outrunBy(metadata, recent);
  return {
    cluster: metadata.name ?? "",
    namespace: metadata.namespace ?? "",
    asOf: formatTime(nowMs),
    verdict,
    headline: headlineOf(verdict, facts, waits, cluster, (...some) =>
      lastingText(some, lasting, nowMs),
    ),
    version: {
      wanted: spec.version,
      ...(status.runningVersion === undefined ? {} : { running: status.runningVersion }),
    },
    redundancyMode: spec.databaseConfiguration?.redundancy_mode ?? "double",
    ...facts,
    ...warningOf(cluster),
    advice: isStale ? [] : (status.advice ?? []),
    doing: doingFlags(cluster, verdict).map(([, text]) => text),
    ...migrationOf(cluster, nowMs),
    waits,
    ...(outrun === undefined ? {} : { outrun }),
    processGroups: {
      total: groups.length,
      inTrouble: new Set(troubles.flatMap((trouble) => trouble.ids)).size,
      troubles,
    },
    quarantine: status.quarantine ?? [],
    objects: objectTroubles(input),
    recent,
    stale,
    unread: input.unread,
  };
}

/** As the status has them, without what pods that were made since, and the database, contradict. */
function groupsSeen({ cluster, database, pods = [] }: ExplainInput): readonly ProcessGroupStatus[] {
  const byId = podsById(cluster, pods);
  const groups = cluster.status?.processGroups ?? [];
  return groups.map((group) => withPodsSeen(group, byId.get(group.processGroupID), database));
}

function migrationOf({ status }: FoundationDBCluster, nowMs: number): { migration?: string } {
  const migration = status?.storageEngineMigration;
  return migration === undefined ? {} : { migration: migrationText(migration, nowMs) };
}

type Facts = Pick<ExplainPage, "serving" | "sound" | "reconciled">;

/** The last value of a fact that nobody keeps current is not its value. */
function fact(
  condition: Condition | undefined,
  isStale: boolean,
  texts: { true: string; false: string; isGoodWhen: "True" | "False" },
): ExplainedFact {
  if (condition === undefined) return { answer: "unknown", text: "nobody has looked yet" };
  const since = condition.lastTransitionTime;
  if (condition.status === "Unknown") {
    return { answer: "unknown", text: condition.message, since };
  }
  if (isStale) {
    // The time of the condition is that of its last value, not since when nobody knows.
    const last = condition.status === "True" ? texts.true : texts.false;
    return { answer: "unknown", text: `it was last told that ${last}` };
  }
  const isGood = condition.status === texts.isGoodWhen;
  const isTrue = condition.status === "True";
  return { answer: isGood ? "yes" : "no", text: isTrue ? texts.true : texts.false, since };
}

function servingFact(cluster: FoundationDBCluster, isStale: boolean): ExplainedFact {
  const condition = conditionIn(cluster.status, "Available");
  return fact(condition, isStale, {
    isGoodWhen: "True",
    true: "the database serves reads and writes",
    false: asClause(condition?.message ?? ""),
  });
}

function soundFact(cluster: FoundationDBCluster, isStale: boolean): ExplainedFact {
  const condition = conditionIn(cluster.status, "Degraded");
  if (condition?.reason === "NotConfigured") {
    return { answer: "unknown", text: asClause(condition.message) };
  }
  return fact(condition, isStale, {
    isGoodWhen: "False",
    true: troubleText(condition),
    false: asClause(condition?.message ?? ""),
  });
}

/** A condition of process groups is said in words. */
function troubleText(condition: Condition | undefined): string {
  const { reason = "", message = "" } = condition ?? {};
  if (meaningOf(reason) === undefined) return asClause(message);
  const names = message.replace(`${reason}: `, "");
  const count = / and | more$/.test(names) ? 2 : 1;
  return `${names}: ${meaningOf(reason, count)}`;
}

function reconciledFact(cluster: FoundationDBCluster, isStale: boolean): ExplainPage["reconciled"] {
  const generation = cluster.metadata.generation ?? 0;
  const reconciledGeneration = cluster.status?.generations?.reconciled;
  // The time of the condition is that since which something is not as it should be; a change of the resource may have
  // come later, so that it is not told as if that had lasted so long.
  const last = reconciledGeneration ?? 0;
  const before = last > 0 && last < generation ? `; the last in force was ${last}` : "";
  const found = fact(conditionIn(cluster.status, "Reconciled"), isStale, {
    isGoodWhen: "True",
    true: `generation ${reconciledGeneration ?? generation} of the resource is in force`,
    false: `not everything is as the resource wants it (generation ${generation}${before})`,
  });
  return {
    ...found,
    generation,
    ...(reconciledGeneration === undefined ? {} : { reconciledGeneration }),
  };
}

function warningOf(cluster: FoundationDBCluster): Pick<ExplainPage, "warning"> {
  const types = ["CertificateExpiring", "CertificateOutdated", "Warning"];
  const warnings = [
    ...types.flatMap((type) => sentenceOf(conditionIn(cluster.status, type)?.message)),
    ...idleEntries(cluster),
  ];
  return warnings.length === 0 ? {} : { warning: warnings.join(" ") };
}

/** Messages that stand side by side end with a full stop. */
function sentenceOf(message: string | undefined): string[] {
  return message === undefined ? [] : [asSentence(message)];
}

/** Entries of the lists of what is to be removed that mean no process group: done with, or mistyped. */
function idleEntries({ metadata, spec, status }: FoundationDBCluster): string[] {
  const groups = status?.processGroups ?? [];
  const known = new Set(groups.map(({ processGroupID }) => processGroupID));
  const byPod = new Map(
    groups.map(({ processGroupID, processClass }) => [
      podNameOf(metadata.name ?? "", processClass, processGroupID),
      processGroupID,
    ]),
  );
  const lists = ["processGroupsToRemove", "processGroupsToRemoveWithoutExclusion"] as const;
  return lists.flatMap((list) => {
    const idle = (spec[list] ?? []).filter((id) => !known.has(id));
    const pods = idle.filter((id) => byPod.has(id));
    const others = idle.filter((id) => !byPod.has(id));
    return [
      ...pods.map(
        (name) =>
          `${list} names the pod ${name}: the id of its process group is ${byPod.get(name)}.`,
      ),
      ...(others.length === 0
        ? []
        : [
            `${list} names ${nameList(others)}, which ${others.length === 1 ? "is no process group" : "are no process groups"} ` +
              "of this cluster: removed already, or mistyped.",
          ]),
    ];
  });
}

export function explainedWaits(
  { status }: { readonly status?: { readonly blockedBy?: readonly BlockedBy[] } },
  nowMs: number,
): ExplainedWait[] {
  return (status?.blockedBy ?? []).map((entry) => {
    const sinceMs = parseTime(entry.since) ?? nowMs;
    return { ...entry, concern: concernAt(entry.reason, nowMs - sinceMs) };
  });
}

function verdictOf(
  { cluster }: ExplainInput,
  { serving, sound, reconciled }: Facts,
  waits: readonly ExplainedWait[],
  isStale: boolean,
): Verdict {
  if (cluster.metadata.deletionTimestamp !== undefined) return "deleting";
  if (cluster.spec.skip === true) return "paused";
  if (cluster.status?.conditions === undefined) return "unseen";
  if (isStale) return "unknown";
  const sleep = conditionIn(cluster.status, "Hibernated");
  if (sleep?.reason === "Waking") return "starting";
  if (sleep !== undefined) return sound.answer === "no" ? "stuck" : "asleep";
  if (serving.answer === "no" && cluster.status.configured === true) return "down";
  if (waits.some((wait) => wait.reason === "InvalidSpec")) return "invalid";
  if (cluster.status.configured !== true) {
    return waits.some((wait) => wait.concern !== "passing") ? "stuck" : "starting";
  }
  if (serving.answer !== "yes") return serving.answer === "no" ? "down" : "unknown";
  if (reconciled.answer === "no" && waits.some((wait) => wait.concern === "person")) return "stuck";
  if (sound.answer === "no") return "degraded";
  return reconciled.answer === "yes" ? "healthy" : "working";
}

function headlineOf(
  verdict: Verdict,
  { serving, sound, reconciled }: Facts,
  waits: readonly ExplainedWait[],
  cluster: FoundationDBCluster,
  lasting: (...facts: readonly ExplainedFact[]) => string,
): string {
  const count = waits.filter((wait) => wait.concern !== "passing").length;
  const things = count === 1 ? "one thing needs" : `${count} things need`;
  const look =
    count === 0 ? `the operator is at work${workText(cluster, verdict)}` : `${things} a look`;
  switch (verdict) {
    case "deleting":
      return isDeletionHeld(cluster)
        ? `Somebody deleted this cluster, but it is protected: it stays, with all its data, until the annotation ${deletionProtection} is removed.`
        : "The cluster is being deleted.";
    case "unseen":
      return "No operator has looked at this cluster: is one running that watches its namespace?";
    case "paused":
      return `The operator leaves this cluster alone (spec.skip is true), so nobody knows how it is.${unreadGeneration(cluster)}`;
    case "asleep":
      return sleepText(cluster);
    case "unknown":
      return `NOBODY KNOWS whether the database serves: ${serving.text}.`;
    case "invalid":
      return `The spec is invalid: nothing is changed until it is corrected.${servingWords(serving)}`;
    case "down":
      return `THE DATABASE IS DOWN${lasting(serving)}: ${serving.text}; ${look}.`;
    case "starting":
      return cluster.status?.configured === true
        ? `The database wakes from its sleep; ${look}.`
        : "The database does not exist yet; the operator is bringing it up.";
    case "stuck":
      if (isHibernated(cluster)) return `${sleepText(cluster)} But ${sound.text}.`;
      return cluster.status?.configured === true
        ? `The database serves reads and writes, but the operator is stuck: ${things} a person.`
        : `The database does not exist yet, and it does not come up by itself: ${things} a look.`;
    case "degraded":
      return `The database serves reads and writes, but not as well as it should: ${sound.text}.`;
    case "working":
      return `The database serves reads and writes, and ${windowText(waits) ?? look}.`;
    case "healthy":
      return `Healthy${lasting(serving, sound, reconciled)}: the database serves reads and writes, and everything is as specified.`;
  }
}

/** ": what it is at", where that is known. */
function workText(cluster: FoundationDBCluster, verdict: Verdict): string {
  const drained = (cluster.status?.processGroups ?? [])
    .filter((group) => hasCondition(group, "NodeDraining"))
    .map(({ processGroupID }) => processGroupID);
  if (drained.length === 1) return `: ${drained[0]} leaves its node, which is being drained`;
  if (drained.length > 1)
    return `: ${nameList(drained)} leave their nodes, which are being drained`;
  const [first] = verdict === "working" ? doingFlags(cluster, verdict) : [];
  return first === undefined ? "" : `: ${first[1]}`;
}

/** Where nothing is done before a maintenance window opens; undefined when there is other work, too. */
function windowText(waits: readonly ExplainedWait[]): string | undefined {
  const [first] = waits;
  if (first === undefined) return undefined;
  if (waits.some(({ reason }) => reason !== "MaintenanceWindowClosed")) return undefined;
  return `the operator ${asClause(first.message)}`;
}

function sleepText({ metadata, status }: FoundationDBCluster): string {
  const { generation: stopped, since = "" } = status?.hibernation ?? {};
  const isDone = conditionIn(status, "Hibernated")?.status === "True";
  const { generation = 0 } = metadata;
  const changed =
    stopped === undefined || stopped === generation
      ? ""
      : ` Generation ${generation} is brought about when it wakes.`;
  const state = isDone ? `Asleep since ${since}` : `Falling asleep since ${since}`;
  return `${state} (spec.hibernate is true): volumes and connection string are kept.${changed}`;
}

/** A spec that was changed while nobody looks is not in force. */
function unreadGeneration({ metadata, status }: FoundationDBCluster): string {
  const { generation = 0 } = metadata;
  const reconciled = status?.generations?.reconciled;
  if (reconciled === undefined || reconciled === generation) return "";
  return ` Generation ${reconciled} is in force, not ${generation}.`;
}

/** " for 12m" or " since TIME": since the youngest of these facts is so. */
function lastingText(facts: readonly ExplainedFact[], lasting: Lasting, nowMs: number): string {
  const times = facts.flatMap(({ since }) => parseTime(since) ?? []);
  if (times.length === 0 || lasting === "none") return "";
  const sinceMs = mostOf(times);
  return lasting === "age" ? ` for ${formatAge(nowMs - sinceMs)}` : ` since ${formatTime(sinceMs)}`;
}

function servingWords(serving: ExplainedFact): string {
  return serving.answer === "yes" ? " The database serves reads and writes." : "";
}

/** What is still to be brought about, from status.generations, in words. */
const goals: readonly [string, string][] = [
  ["needsConfigurationChange", "configure the database"],
  ["needsGrow", "add process groups"],
  ["needsShrink", "take out process groups"],
  ["needsCoordinatorChange", "change the coordinators"],
  ["needsMonitorConfUpdate", "bring the ConfigMap up to date"],
  ["needsBounce", "restart processes with their new arguments"],
  ["needsPodDeletion", "recreate pods that were made from an older specification"],
  ["needsServiceUpdate", "bring the services up to date"],
  ["hasExtraListeners", "finish the change between TLS and plain connections"],
  ["hasPendingRemoval", "wait until removed pods and volumes are gone"],
  ["hasUnhealthyProcess", "get all process groups healthy"],
  ["missingDatabaseStatus", "get the database available"],
  ["needsLockConfigurationChanges", "bring the deny list of the lock up to date"],
];

/** Each with the flag of the status that says so. */
export function doingFlags(
  cluster: FoundationDBCluster,
  verdict: Verdict,
): (readonly [flag: string, text: string])[] {
  if (["deleting", "unseen", "paused", "asleep", "invalid", "healthy"].includes(verdict)) return [];
  const flags: Readonly<Record<string, number | undefined>> = cluster.status?.generations ?? {};
  const found = goals.filter(([flag]) => flags[flag] !== undefined);
  // The operator sets the flag for process groups that are only outdated, too.
  const isToldOtherwise = found.length > 1 && !(cluster.status?.processGroups ?? []).some(isIll);
  return isToldOtherwise ? found.filter(([flag]) => flag !== "hasUnhealthyProcess") : found;
}

function isIll({ processGroupConditions = [] }: ProcessGroupStatus): boolean {
  return processGroupConditions.some(({ type }) => type !== "Ready" && !isOutdatedCondition(type));
}

function asClause(text: string): string {
  return /^[A-Z][a-z]* /.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** How long ago something was; undefined for a text that is no time. */
export function ageMs(
  page: Pick<ExplainPage, "asOf">,
  time: string | undefined,
): number | undefined {
  const atMs = parseTime(time);
  const nowMs = parseTime(page.asOf);
  return atMs === undefined || nowMs === undefined ? undefined : nowMs - atMs;
}
