// The time line of one cluster: what was told in events, and what changed between two looks at the resource, its pods and its
// database. Entries that go on have no end yet. No I/O: whoever watches hands in what was seen, and when.
// Rules: spec/web.md [WEB15]-[WEB17].
import { isAvailable } from "../../model/availability.ts";
import { parseTime } from "../../kube/time.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { Event } from "../../kube/generated/types.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Stored } from "../../kube/resource.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { counted } from "../../model/counted.ts";
import { waitReasons } from "../../plan/reasons/registry.ts";
import { nameList } from "../../plan/wait.ts";
import { isOutdatedCondition } from "../../model/group-state.ts";
import { groupTroubles } from "../../plugin/explain/groups.ts";
import { known } from "../../plugin/known.ts";
import { statusRow } from "../../plugin/status/status-view.ts";
import type { TimeLineEntry, TimeLineKind, TimeLineModel } from "../view-model.ts";

export const entriesMax = 500;
/** Pods that come or go within this time are one entry. */
const togetherMs = 10_000;

interface Seen {
  readonly generation: number;
  readonly verdict: string;
  readonly version: string | undefined;
}

export class TimeLine {
  readonly #sinceMs: number;
  #entries: Readonly<Record<string, TimeLineEntry>> = {};
  #seen: Seen | undefined;
  #databaseGeneration: number | undefined;
  /** Process groups of the last look, and those among them that have not run yet. */
  #known: ReadonlySet<string> | undefined;
  #coming = new Set<string>();
  /** Entries of the last look at the resource that go on, by id. */
  #open = new Set<string>();
  /** Versions of events that were looked at, by uid. */
  #notedEvents: ReadonlyMap<string, string> = new Map();
  #podNames = new Map<string, string[]>();

  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
  }

  /** The very same object while nothing has changed. */
  get model(): TimeLineModel {
    this.#model ??= { sinceMs: this.#sinceMs, entries: this.#entries };
    return this.#model;
  }
  #model: TimeLineModel | undefined;

  /** All that there are now: of the cluster itself, and warnings about its pods and claims. */
  noteEvents(events: readonly Stored<Event>[]): void {
    const noted = new Map<string, string>();
    for (const event of events) {
      const { uid = "", resourceVersion = "" } = event.metadata;
      noted.set(uid, resourceVersion);
      if (this.#notedEvents.get(uid) !== resourceVersion) this.#noteEvent(event);
    }
    this.#notedEvents = noted;
  }

  noteCluster(cluster: Stored<FoundationDBCluster>, nowMs: number): void {
    const row = statusRow(cluster, nowMs, "none");
    const { verdict, headline, version } = row;
    const generation = cluster.metadata.generation ?? 0;
    const seen = this.#seen;
    this.#seen = { generation, verdict, version: version.running };
    if (seen !== undefined) {
      if (generation > seen.generation) {
        this.#moment(`generation/${generation}`, nowMs, {
          ...{ kind: "change", reason: "Changed" },
          text: `the resource was changed: this is its generation ${generation}`,
        });
      }
      if (
        version.running !== undefined &&
        seen.version !== undefined &&
        version.running !== seen.version
      ) {
        this.#moment(`version/${version.running}/${nowMs}`, nowMs, {
          ...{ kind: "act", reason: "Version" },
          text: `the database runs ${version.running}; before that ${seen.version}`,
        });
      }
      if (verdict !== seen.verdict) {
        this.#moment(`verdict/${nowMs}`, nowMs, {
          kind: "change",
          reason: verdict,
          // At the moment of the change it has lasted for no time.
          text: headline,
        });
      }
    }
    this.#noteComing(cluster, verdict);
    this.#noteLasting(cluster, nowMs);
  }

  /** Process groups that are new, or come up with their database, have not failed before they have run. */
  #noteComing({ status }: Stored<FoundationDBCluster>, verdict: string): void {
    const groups = status?.processGroups ?? [];
    const areAllNew = status?.configured !== true || verdict === "starting" || verdict === "asleep";
    const before = this.#known;
    const coming = groups.filter(
      ({ processGroupID: id, processGroupConditions: conditions = [] }) => {
        const isNew = this.#coming.has(id) || (before !== undefined && !before.has(id));
        const lacks = conditions.some(({ type }) => isFailure(type));
        return lacks && (areAllNew || isNew);
      },
    );
    this.#coming = new Set(coming.map(({ processGroupID }) => processGroupID));
    this.#known = new Set(groups.map(({ processGroupID }) => processGroupID));
  }

  /** What waits, and what is wrong, until it is not any more. */
  #noteLasting(cluster: Stored<FoundationDBCluster>, nowMs: number): void {
    const open = new Set<string>();
    const last = (
      name: string,
      entry: Omit<TimeLineEntry, "fromMs">,
      since: string | undefined,
    ): void => {
      const fromMs = Math.min(parseTime(since) ?? nowMs, nowMs);
      const id = `${name}/${fromMs}`;
      open.add(id);
      this.#put(id, { ...entry, fromMs });
    };
    for (const { step, reason, object, message: text, remedy, since } of cluster.status
      ?.blockedBy ?? []) {
      const entry = { kind: "wait", reason, text, ...known({ remedy, object }) } as const;
      last(`wait/${step}/${reason}/${object ?? ""}`, entry, since);
    }
    const ran = (cluster.status?.processGroups ?? []).filter(
      ({ processGroupID }) => !this.#coming.has(processGroupID),
    );
    for (const trouble of groupTroubles(ran)) {
      const { condition, processClass, meaning, ids, since } = trouble;
      if (!isFailure(condition)) continue;
      const text = `${nameList(ids)}: ${meaning}`;
      last(
        `group/${condition}/${processClass}`,
        { kind: "failure", reason: condition, text },
        since,
      );
    }
    for (const id of this.#open) if (!open.has(id)) this.#close(id, nowMs);
    this.#open = open;
  }

  /** Pods that came or went. */
  notePod(change: "created" | "deleted", name: string, nowMs: number): void {
    const [id] =
      Object.entries(this.#entries).findLast(
        ([key, { toMs = 0 }]) => key.startsWith(`pods/${change}/`) && nowMs - toMs < togetherMs,
      ) ?? [];
    const found = id ?? `pods/${change}/${nowMs}`;
    const names = [...(this.#podNames.get(found) ?? []), name];
    this.#podNames.set(found, names);
    const fromMs = this.#entries[found]?.fromMs ?? nowMs;
    this.#put(found, {
      ...{
        kind: "act",
        fromMs,
        toMs: nowMs,
        reason: change === "created" ? "PodsCreated" : "PodsDeleted",
      },
      text: `${counted(names.length, "pod")} ${change}: ${nameList(names)}`,
    });
  }

  /** Each recovery begins a new generation; several between two looks are one entry. */
  noteDatabase(status: DatabaseStatus, nowMs: number): void {
    const { generation, recovery_state: recovery } = status.cluster ?? {};
    if (
      generation !== undefined &&
      this.#databaseGeneration !== undefined &&
      generation > this.#databaseGeneration
    ) {
      const agoMs = (recovery?.seconds_since_last_recovered ?? 0) * 1000;
      const atMs = Math.max(nowMs - Math.max(agoMs, 0), this.#sinceMs);
      this.#moment(`recovery/${generation}`, atMs, {
        ...{ kind: "recovery", reason: "Recovery" },
        text: "the database recovered: a pause for applications",
      });
    }
    this.#databaseGeneration = generation ?? this.#databaseGeneration;
    const isDown = !isAvailable(status);
    const [down] =
      Object.entries(this.#entries).find(
        ([id, { toMs }]) => id.startsWith("down/") && toMs === undefined,
      ) ?? [];
    if (!isDown && down !== undefined) this.#close(down, nowMs);
    if (!isDown || down !== undefined) return;
    const text = recovery?.description ?? "the database does not serve";
    this.#put(`down/${nowMs}`, { kind: "failure", fromMs: nowMs, reason: "Unavailable", text });
  }

  #noteEvent(event: Stored<Event>): void {
    const { involvedObject, metadata, count = 1, type, reason = "", message = "" } = event;
    const { kind, name = "" } = involvedObject;
    const isOwn = kind === "FoundationDBCluster";
    if (!isOwn && type !== "Warning") return;
    const { firstTimestamp, lastTimestamp, eventTime } = event;
    const toMs = parseTime(lastTimestamp ?? eventTime ?? metadata.creationTimestamp);
    if (toMs === undefined) return;
    // Waits of which the resource tells are shown with their length already.
    if (isOwn && isWaiting(reason) && this.#isShown(message)) return;
    const entryKind = kindOf(isOwn, type ?? "", reason);
    const firstMs = Math.min(parseTime(firstTimestamp) ?? toMs, toMs);
    this.#put(`event/${metadata.uid ?? metadata.name ?? ""}`, {
      ...{ kind: entryKind, reason, text: message, toMs },
      // What was done twice was not done all the time between.
      fromMs: entryKind === "act" ? toMs : firstMs,
      ...(isOwn ? {} : { object: `${(kind ?? "").toLowerCase()}/${name}` }),
      ...(count > 1 ? { count } : {}),
      ...(count > 1 && entryKind === "act" ? { firstMs } : {}),
    });
  }

  #isShown(text: string): boolean {
    return Object.values(this.#entries).some(
      (entry) => entry.kind === "wait" && entry.text === text,
    );
  }

  #moment(id: string, atMs: number, entry: Omit<TimeLineEntry, "fromMs" | "toMs">): void {
    this.#put(id, { ...entry, fromMs: atMs, toMs: atMs });
  }

  #close(id: string, nowMs: number): void {
    const entry = this.#entries[id];
    if (entry !== undefined) this.#put(id, { ...entry, toMs: Math.max(nowMs, entry.fromMs) });
  }

  #put(id: string, entry: TimeLineEntry): void {
    const before = this.#entries[id];
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(entry)) return;
    this.#entries = bounded({ ...this.#entries, [id]: entry });
    this.#model = undefined;
    for (const key of this.#podNames.keys())
      if (!(key in this.#entries)) this.#podNames.delete(key);
  }
}

/** Of what was told, that about these objects. */
export function eventsAbout(
  objects: readonly KubeObject[],
  events: readonly Stored<Event>[],
): Stored<Event>[] {
  const nameOf = (kind = "", name = ""): string => `${kind}/${name}`;
  const own = new Set(objects.map(({ kind, metadata }) => nameOf(kind, metadata.name)));
  return events.filter(({ involvedObject: { kind, name } }) => own.has(nameOf(kind, name)));
}

function kindOf(isOwn: boolean, type: string, reason: string): TimeLineKind {
  if (isOwn && isWaiting(reason)) return "wait";
  return type === "Warning" ? "failure" : "act";
}

/** Some events announce what waits in the words of the wait. */
const waiting: ReadonlySet<string> = new Set([...waitReasons, "NeedsBounce"]);

function isWaiting(reason: string): boolean {
  return waiting.has(reason);
}

/** Being of an older specification, or on the way out, is no failure. */
function isFailure(condition: string): boolean {
  return (
    !isOutdatedCondition(condition) &&
    !["Ready", "MarkedForRemoval", "ResourcesTerminating"].includes(condition)
  );
}

/** Without the oldest that are over. */
function bounded(
  entries: Readonly<Record<string, TimeLineEntry>>,
): Readonly<Record<string, TimeLineEntry>> {
  const all = Object.entries(entries);
  if (all.length <= entriesMax) return entries;
  const endOf = ({ toMs = Infinity }: TimeLineEntry): number => toMs;
  const [oldest] = all.reduce((least, one) => (endOf(one[1]) < endOf(least[1]) ? one : least));
  return Object.fromEntries(all.filter(([id]) => id !== oldest));
}
