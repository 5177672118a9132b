// The connection string of a database that comes back from its disks, read from all of them by short-lived pods. Only one that every
// volume holds is taken: a volume that disagrees, or that cannot be read, is told, and a person decides.
// Rules: spec/adoption.md [ADO13]-[ADO15], [ADO25].
import { claimOfReader, readingOf, volumeReader } from "../../build/volume-reader.ts";
import type { Reading } from "../../build/volume-reader.ts";
import type { PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { parseConnectionString } from "../../model/connection-string.ts";
import { counted } from "../../model/counted.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { Action } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft, StepResult } from "../step.ts";
import { ownTimeMs } from "../view/server-time.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";
import {
  coordinatorsHolding,
  coordinatorsRemedy,
  missingCoordinators,
  subjectOf,
} from "./adoption.ts";

const step = "adoptVolumes";
const retryAfterMs = 60_000;
/** So many volumes are read at once: a large cluster must not fill its nodes with readers. */
const readersMax = 20;
/** What was read without a result is read again after so long: a person may have mended it. */
const againMs = 600_000;
/** A pod that finds no node, or that cannot be deleted, has no end of its own. */
const pendingMaxMs = 360_000;
/** Of what a pod said. */
const wordsMax = 200;

const remedy =
  "Put the text of fdb.cluster, which lies beside the data on each volume (mount one in a pod of your own) or in a backup of the ConfigMap, into spec.seedConnectionString.";

const choice =
  "Find out which one the database used last, and put it into spec.seedConnectionString. Of one database that ran it is the one that the volumes of most of its own coordinators hold: a volume whose server was away when coordinators changed has an older one. Take the labels off claims whose volumes are of another database: servers start on all that are named.";

type Claim = Stored<PersistentVolumeClaim>;

export function readersOf({ volumeReaders = [] }: Snapshot): readonly Stored<Pod>[] {
  return volumeReaders;
}

/** A volume that two pods mount may not be mounted by the one that matters. */
export function withoutReaders(snapshot: Snapshot): StepResult | undefined {
  const readers = readersOf(snapshot);
  if (readers.length === 0) return undefined;
  const message = `The connection string is known; the pods that read it from the volumes end: ${nameList(namesOf(readers))}`;
  return {
    actions: removals(readers),
    waits: [{ step, reason: "VolumesBeingRead", message, retryAfterMs: 5_000 }],
    isUnfinished: true,
    stop: true,
  };
}

function withoutOthers(readers: readonly Stored<Pod>[]): StepResult {
  const message = `Pods that read volumes which are not meant any more end: ${nameList(namesOf(readers))}`;
  return {
    actions: removals(readers),
    waits: [{ step, reason: "VolumesBeingRead", message, retryAfterMs: 5_000 }],
    isUnfinished: true,
    stop: true,
  };
}

export function removals(readers: readonly Stored<Pod>[]): Action[] {
  return readers.flatMap(({ metadata }): Action[] => {
    const { name = "", uid = "", resourceVersion = "", deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined) return [];
    return [{ type: "deleteVolumeReader", step, basis: { name, uid, resourceVersion } }];
  });
}

function namesOf(readers: readonly Stored<Pod>[]): string[] {
  return readers.map(({ metadata }) => metadata.name ?? "").sort();
}

export function readConnectionString(
  snapshot: Snapshot,
  draft: Draft,
  claims: readonly Claim[],
): StepResult {
  const uids = new Map(claims.map(({ metadata }) => [metadata.name ?? "", metadata.uid ?? ""]));
  const isOfClaim = (reader: Stored<Pod>): boolean => {
    const { name, uid } = claimOfReader(reader);
    return uids.get(name) === uid;
  };
  const all = readersOf(snapshot);
  // A claim that was made again, or that is not meant any more, is another volume.
  const others = all.filter((reader) => !isOfClaim(reader));
  if (others.length > 0) return withoutOthers(others);
  const readers = new Map(all.map((reader) => [claimOfReader(reader).name, reader]));
  const names = [...uids.keys()].sort();
  const readings = new Map<string, Reading>();
  for (const name of names) {
    const reader = readers.get(name);
    if (reader !== undefined) readings.set(name, inTime(snapshot, reader));
  }
  const left = names.filter((name) => (readings.get(name)?.kind ?? "pending") === "pending");
  if (left.length > 0) return readOn(snapshot, draft, claims, readings, left);
  const outcome = judged(snapshot, claims, readings);
  if (typeof outcome === "string") {
    const message = `All ${counted(names.length, "volume")} hold the connection string ${outcome}`;
    return {
      status: { connectionString: outcome },
      actions: removals([...readers.values()]),
      events: [{ type: "Normal", reason: "ConnectionStringFound", message }],
      isUnfinished: true,
      stop: true,
    };
  }
  const old = [...readers.values()].filter((reader) => isOld(snapshot, reader));
  return { actions: removals(old), waits: [outcome], isUnfinished: true, stop: true };
}

function isOld(snapshot: Snapshot, { metadata }: Stored<Pod>): boolean {
  return ageMs(snapshot, metadata.creationTimestamp) >= againMs;
}

function ageMs(snapshot: Snapshot, since: string | undefined): number {
  const sinceMs = ownTimeMs(snapshot, since);
  return sinceMs === undefined ? 0 : Math.max(0, snapshot.nowMs - sinceMs);
}

function inTime(snapshot: Snapshot, reader: Stored<Pod>): Reading {
  const reading = readingOf(reader);
  if (reading.kind !== "pending") return reading;
  const { creationTimestamp, deletionTimestamp = creationTimestamp } = reader.metadata;
  if (ageMs(snapshot, deletionTimestamp) < pendingMaxMs) return reading;
  const { name = "" } = reader.metadata;
  return { kind: "failed", why: `pod ${name} has not ended, ${reading.why}` };
}

function readOn(
  snapshot: Snapshot,
  draft: Draft,
  claims: readonly Claim[],
  readings: ReadonlyMap<string, Reading>,
  left: readonly string[],
): StepResult {
  const unread = left.filter((name) => !readings.has(name));
  const room = Math.max(0, readersMax - (left.length - unread.length));
  const made = unread.map((name) => readerAction(snapshot, draft, claims, name));
  const unable = unread.filter((_, index) => made[index] === undefined);
  const problems = unable.flatMap((name) => templateProblem(snapshot, draft, claims, name) ?? []);
  if (problems.length > 0) {
    return { waits: problems.slice(0, 1), isUnfinished: true, stop: true };
  }
  if (unable.length > 0) {
    const message = `The connection string cannot be read from ${nameList(unable)}: the pod template mounts no volume where the data lies`;
    return { waits: [lost(message)], isUnfinished: true, stop: true };
  }
  const waiting = left.flatMap((name) => {
    const reading = readings.get(name);
    return reading?.kind === "pending" ? [`${name} (${reading.why})`] : [];
  });
  const how = waiting.length === 0 ? "" : `. Pods that read: ${nameList(waiting)}`;
  const message = `The connection string is being read from the volumes, ${left.length} of ${claims.length} are left${how}`;
  return {
    actions: made.flatMap((action) => action ?? []).slice(0, room),
    waits: [{ step, reason: "VolumesBeingRead", message, retryAfterMs: 15_000 }],
    isUnfinished: true,
    stop: true,
  };
}

/** Why there is no pod that a volume is for; undefined when there is one. */
function templateProblem(
  snapshot: Snapshot,
  draft: Draft,
  claims: readonly Claim[],
  name: string,
): NewWait | undefined {
  const group = groupOf(snapshot, draft, claims, name);
  const problem = group && draft.desired.podProblem(group);
  if (problem === undefined) return undefined;
  const message = `The connection string cannot be read from ${name}, since no pod can be built for it: ${problem.field} is ${problem.value}`;
  return {
    ...{ step, reason: "PodTemplateUnusable", message },
    ...{ remedy: problem.remedy, retryAfterMs },
  };
}

function groupOf(
  snapshot: Snapshot,
  { groups }: Draft,
  claims: readonly Claim[],
  name: string,
): ProcessGroup | undefined {
  const claim = claims.find(({ metadata }) => metadata.name === name);
  const { id } = claim === undefined ? { id: "" } : subjectOf(snapshot, claim);
  return groups.find(({ processGroupID }) => processGroupID === id);
}

function readerAction(
  snapshot: Snapshot,
  draft: Draft,
  claims: readonly Claim[],
  name: string,
): Action | undefined {
  const { desired } = draft;
  const claim = claims.find(({ metadata }) => metadata.name === name);
  const group = groupOf(snapshot, draft, claims, name);
  const server = group && desired.pod(group)?.object;
  const object = claim && server && volumeReader(snapshot.cluster, claim, server);
  return object && { type: "createVolumeReader", step, object };
}

/** The string, or what keeps it from being taken. */
function judged(
  snapshot: Snapshot,
  claims: readonly Claim[],
  readings: ReadonlyMap<string, Reading>,
): string | NewWait {
  const failed: string[] = [];
  const holders = new Map<string, string[]>();
  for (const [name, reading] of readings) {
    if (reading.kind !== "read")
      failed.push(`${name} (${reading.kind === "failed" ? reading.why.slice(0, wordsMax) : ""})`);
    else if (!parseConnectionString(reading.text).ok) failed.push(`${name} (no connection string)`);
    else holders.set(reading.text, [...(holders.get(reading.text) ?? []), name]);
  }
  const [first, ...others] = [...holders].sort(([, a], [, b]) => b.length - a.length);
  if (first !== undefined && others.length > 0) {
    const sides = [first, ...others].map((side) => sideOf(snapshot, claims, side));
    const unread = failed.length === 0 ? "" : `; not read: ${nameList(failed)}`;
    const message = `The volumes disagree about the connection string: ${sides.join("; ")}${unread}`;
    return { step, reason: "AdoptionRefused", message, remedy: choice, retryAfterMs };
  }
  if (first === undefined || failed.length > 0) {
    return lost(`The connection string could not be read from ${nameList(failed)}`);
  }
  const [text] = first;
  const gap = missingCoordinators(snapshot, claims, text);
  return gap === undefined
    ? text
    : {
        ...{ step, reason: "AdoptionIncomplete", message: gap },
        ...{ remedy: coordinatorsRemedy, retryAfterMs },
      };
}

/** A string that some volumes hold, and what tells whether it is an older one. */
function sideOf(
  snapshot: Snapshot,
  claims: readonly Claim[],
  [text, names]: readonly [string, readonly string[]],
): string {
  const holders = claims.filter(({ metadata }) => names.includes(metadata.name ?? ""));
  const own = coordinatorsHolding(snapshot, holders, text);
  return `${text} on ${nameList(names)}${own === undefined ? "" : ` (with ${own})`}`;
}

function lost(message: string): NewWait {
  return { step, reason: "ConnectionStringLost", message, remedy, retryAfterMs };
}
