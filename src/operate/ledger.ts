// Our own disruptive acts on one database, kept until a status shows how each of them ended. It lives in memory: after a
// restart the pods and the statuses of the first 90 seconds tell the same. Rules: spec/safety.md [S40]-[S46], [S121], [S162], [S167].
import type { Clock } from "../env/clock.ts";
import { parseAddress, withoutFlags } from "../model/address.ts";
import type { DatabaseStatus, StatusProcess } from "../model/database-status.ts";
import { processesOf, processesOfInstance } from "../model/locality.ts";
import type { DisruptiveAction } from "../plan/action.ts";
import { chargedGroups, touchedGroups } from "../plan/safety/touched-groups.ts";
import { hallsInForce } from "../plan/safety/one-hall.ts";
import { ledgerVerdict } from "../plan/safety/ledger-verdict.ts";
import { beginningsOf, groupsOf, zoneOfGroup } from "../plan/safety/view.ts";
import type { SafetyView } from "../plan/safety/view.ts";
import type { LedgerEntry } from "../plan/snapshot.ts";

export interface LedgerRecord {
  entry: LedgerEntry;
  readonly action: DisruptiveAction;
  /** When the status was asked for that told how its processes had begun. */
  readonly askedMs: number;
  /** Why it failed, as far as its answer says; it may have been carried out all the same. */
  problem?: string;
}

export interface Contradiction {
  readonly action: DisruptiveAction;
  /** How often in a row. */
  readonly count: number;
  /** Why it failed the last time; undefined when it had succeeded. */
  readonly problem: string | undefined;
}

export class Ledger {
  readonly #clock: Pick<Clock, "steppedMs">;
  #records: LedgerRecord[] = [];
  /** How often in a row a restart of a process group had no effect; only who had one without effect is in it. */
  readonly #ineffective = new Map<string, number>();

  constructor(clock: Pick<Clock, "steppedMs">) {
    this.#clock = clock;
  }

  /** With their times by the clock as it is set now. */
  entries(): LedgerEntry[] {
    return this.#records.map((record) => movedEntry(this.#clock, record));
  }

  /** Written down before it begins, so that it counts even if its answer never comes. */
  begin(view: SafetyView, action: DisruptiveAction, nowMs: number): LedgerRecord {
    const askedMs = view.database.kind === "seen" ? view.database.observedMs : nowMs;
    const record = { entry: entryOf(view, action, nowMs), action, askedMs };
    this.#records.push(record);
    return record;
  }

  end(record: LedgerRecord, nowMs: number): void {
    record.entry = { ...record.entry, atMs: nowMs };
  }

  /** Takes back an act that certainly did not happen. */
  forget(record: LedgerRecord): void {
    this.#records = this.#records.filter((each) => each !== record);
  }

  /** Drops the acts that have ended; those that had no effect are the answer. */
  settle(
    view: Pick<SafetyView, "cluster" | "pods" | "pvcs" | "nowMs" | "statuses" | "memory">,
  ): Contradiction[] {
    const contradicted: Contradiction[] = [];
    const [newest] = view.statuses;
    this.#records = this.#records.filter((record) => {
      const { action, problem } = record;
      const entry = movedEntry(this.#clock, record);
      const verdict = ledgerVerdict(entry, view, newest);
      if (verdict === "contradicted") {
        contradicted.push({ action, count: this.#count(entry), problem });
      }
      if (verdict === "ended") this.#forgetCount(entry);
      return verdict === "open";
    });
    const known = new Set(groupsOf(view).map((group) => group.processGroupID));
    for (const id of this.#ineffective.keys()) if (!known.has(id)) this.#ineffective.delete(id);
    return contradicted;
  }

  /** The next try may concern only some of the process groups, so each of them has its own count. */
  #count({ processGroupIds }: LedgerEntry): number {
    const before = processGroupIds.map((id) => this.#ineffective.get(id) ?? 0);
    const count = before.reduce((most, each) => Math.max(most, each), 0) + 1;
    for (const id of processGroupIds) this.#ineffective.set(id, count);
    return count;
  }

  #forgetCount({ type, processGroupIds }: LedgerEntry): void {
    if (type !== "killProcesses") return;
    for (const id of processGroupIds) this.#ineffective.delete(id);
  }
}

/** What the clock was set forward by did not go by for an act: its times move along with the clock. */
function movedEntry(
  clock: Pick<Clock, "steppedMs">,
  { entry, askedMs }: LedgerRecord,
): LedgerEntry {
  const startsMovedMs = clock.steppedMs(askedMs);
  if (startsMovedMs === 0) return entry;
  return {
    ...entry,
    beganMs: entry.beganMs + clock.steppedMs(entry.beganMs),
    atMs: entry.atMs + clock.steppedMs(entry.atMs),
    starts: new Map([...entry.starts].map(([key, startMs]) => [key, startMs + startsMovedMs])),
    startsMovedMs,
  };
}

function entryOf(view: SafetyView, action: DisruptiveAction, nowMs: number): LedgerEntry {
  const processGroupIds = groupIdsOf(action);
  const seen = view.database.kind === "seen" ? view.database : undefined;
  const processes =
    seen === undefined ? [] : processesHit(view, seen.status, action, processGroupIds);
  const zones = chargedGroups(view, action).map((group) => zoneOfGroup(view, group));
  return {
    type: action.type,
    beganMs: nowMs,
    atMs: nowMs,
    processGroupIds,
    zones: [...new Set(zones)],
    halls: hallsInForce(view, touchedGroups(view, action)),
    addresses: processes.flatMap((process) => process.address ?? []),
    starts: new Map(
      [...(seen === undefined ? [] : beginningsOf(seen, processes))].map(([key, { latestMs }]) => [
        key,
        latestMs,
      ]),
    ),
    podUids: podUidsOf(action),
    ...(action.type === "deletePods" && action.because === "update" && { isUpdate: true }),
  };
}

/** A restart is told by addresses, and may hit processes of other instances too. */
function processesHit(
  view: SafetyView,
  status: DatabaseStatus,
  action: DisruptiveAction,
  ids: readonly string[],
): StatusProcess[] {
  if (action.type !== "killProcesses")
    return ids.flatMap((id) => processesOfInstance(view, status, id));
  const killed = new Set(action.addresses);
  return view.memory.once(processesOf, status).filter((process) => {
    const address = parseAddress(process.address ?? "");
    return address.ok && killed.has(withoutFlags(address.value));
  });
}

function groupIdsOf(action: DisruptiveAction): readonly string[] {
  switch (action.type) {
    case "deletePods":
    case "fencePods":
      return action.pods.map((pod) => pod.processGroupId);
    case "lowerLimits":
      return [action.processGroupId];
    case "removeProcessGroups":
      return action.groups.map((group) => group.processGroupId);
    case "excludeProcesses":
    case "includeProcesses":
    case "killProcesses":
      return action.processGroupIds;
    default:
      return [];
  }
}

function podUidsOf(action: DisruptiveAction): string[] {
  if (action.type === "deletePods") return action.pods.map((pod) => pod.basis.uid);
  if (action.type !== "removeProcessGroups") return [];
  return action.groups.flatMap((group) => group.pod?.uid ?? []);
}
