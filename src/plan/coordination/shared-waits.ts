// What an instance in global mode waits for, in words: which process groups of which other instance, and since when they
// have been announced. Rules: spec/coordination.md [CO28], [CO50]-[CO53].
import { remedyOf } from "../reasons/registry.ts";
import { leastOf } from "../../env/long-lists.ts";
import type { SetEntry } from "../../fdb/keys.ts";
import { formatTime } from "../../kube/time.ts";
import { entryKey, seenKey, setsOfPurpose } from "../view/shared-sets.ts";
import type { CoordinationKnowledge, Matter } from "../view/shared-sets.ts";
import type { SharedVerdict } from "./shared-verdict.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";

/** The step that tells the others. */
export const coordinationStep = "operatorCoordination";
const verbs = { exclusion: "excluded", inclusion: "included", restart: "restarted" } as const;

/** One wait for each instance that others wait for; none for what our own steps explain. */
export function verdictWaits(
  step: string,
  matter: Matter,
  verdict: SharedVerdict,
  known: CoordinationKnowledge,
  ownPrefix: string,
  ids: readonly string[],
): NewWait[] {
  const what = `Not ${verbs[matter.purpose]} yet: ${nameList(ids)}`;
  if (verdict.kind === "settling") {
    const message = `${what}; all instances are ready, and it is waited whether others join`;
    const remedy = "Nothing: it happens when nothing has changed for a while.";
    const retryAfterMs = Math.max(500, verdict.remainingMs);
    return [{ ...base(step, "CoordinationSettling", message, remedy), retryAfterMs }];
  }
  if (verdict.kind !== "waiting") return [];
  const byInstance = new Map<string, SetEntry[]>();
  for (const entry of verdict.missing) {
    if (entry.processGroupIdPrefix === ownPrefix) continue;
    const list = byInstance.get(entry.processGroupIdPrefix) ?? [];
    byInstance.set(entry.processGroupIdPrefix, [...list, entry]);
  }
  return [...byInstance].map(([prefix, entries]) => {
    const since = sinceOf(matter, entries, known);
    const names = nameList(entries.map(({ processGroupId }) => processGroupId));
    const announced = since === undefined ? "" : `, announced since ${formatTime(since)}`;
    const bound = Number.isFinite(verdict.untilMs)
      ? `; it goes ahead without them at ${formatTime(verdict.untilMs)}`
      : "";
    const message = `${what}; instance ${prefix} is not ready with ${names}${announced}${bound}`;
    const object = `instance/${prefix}`;
    return { ...base(step, "InstanceNotReady", message, otherRemedy), object };
  });
}

const otherRemedy =
  "Look what holds the resource of that instance; if its operator is gone, `kubectl fdb coordination clear` takes its entries away.";

function sinceOf(
  { purpose }: Matter,
  entries: readonly SetEntry[],
  known: CoordinationKnowledge,
): number | undefined {
  const times = entries.flatMap(
    (entry) => known.memory.firstSeenMs.get(seenKey(setsOfPurpose[purpose].pending, entry)) ?? [],
  );
  return times.length === 0 ? undefined : leastOf(times);
}

/** Until the sets have been read, nobody knows what the others want. */
export function readingWait(step: string, ids: readonly string[]): NewWait {
  const message = `Waiting: ${nameList(ids)}; what the other instances want is being read`;
  return base(step, "CoordinationSettling", message, "Nothing: it takes seconds.");
}

/** An instance that is local now is not finished before the others cannot wait for it any more. */
export function leavingWait(prefix: string): NewWait {
  const message = `Entries of ${prefix} in the coordination sets are taken out: synchronizationMode is local`;
  const remedy = "Nothing: it takes seconds once the database answers.";
  return base(coordinationStep, "CoordinationSettling", message, remedy);
}

/** Only waits for what another program wrote: a person has to decide. */
export function foreignWait(entries: readonly SetEntry[]): NewWait {
  const names = entries.map(entryKey);
  const message =
    `The coordination sets hold entries of another operator: ${nameList([...new Set(names)])}. ` +
    "Global mode works only among instances of this one, so nothing is written and nothing is done together";
  return {
    ...base(coordinationStep, "CoordinationForeign", message, remedyOf("CoordinationForeign")),
    retryAfterMs: 30_000,
  };
}

export function prefixWait(prefix: string, strangers: readonly string[]): NewWait {
  const message =
    `Processes that are none of this resource carry its processGroupIDPrefix ${prefix}: ${nameList(strangers)}. ` +
    "Another resource of the database uses the same prefix, so nothing is announced and nothing is done together";
  return {
    ...base(coordinationStep, "PrefixShared", message, remedyOf("PrefixShared")),
    retryAfterMs: 30_000,
  };
}

function base(
  step: string,
  reason: NewWait["reason"],
  message: string,
  remedy: string,
): NewWait & { retryAfterMs: number } {
  return { step, reason, message, remedy, retryAfterMs: 2_000, isForDatabase: true };
}
