// What could be better in a cluster, as a function of what a pass sees and of what was told before. Nothing of it is acted upon.
// Rules: spec/advice.md [ADV1], [ADV2].
import { isAvailable } from "../../model/availability.ts";
import type { Advice, AdviceTopic } from "../../api/advice.ts";
import { adviceTopics } from "../../api/advice.ts";
import { processesOf } from "../../model/locality.ts";
import { isTest } from "../../model/process-class.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { knobsDiffer } from "./knobs-differ.ts";
import { logsTooMany } from "./logs-too-many.ts";
import { processesIdle } from "./processes-idle.ts";
import { storageNearlyFull } from "./storage-nearly-full.ts";
import { groupIdOf } from "./subject.ts";
import type { AdviceJudge, AdviceSubject } from "./subject.ts";
import { zonesUneven } from "./zones-uneven.ts";

const judges: Readonly<Record<AdviceTopic, AdviceJudge>> = {
  StorageNearlyFull: storageNearlyFull,
  ZonesUneven: zonesUneven,
  KnobsDiffer: knobsDiffer,
  LogsTooMany: logsTooMany,
  ProcessesIdle: processesIdle,
};

/** Undefined when there is none. Of a database that does not tell all of itself, what was told before stands. */
export function adviceFor(snapshot: Snapshot, draft: Draft): readonly Advice[] | undefined {
  const known = snapshot.cluster.status?.advice;
  const status = databaseStatus(snapshot);
  const isWhole = status?.unreadable === undefined && isAvailable(status);
  if (!isWhole || draft.status.configured !== true) return known;
  const subject = snapshot.memory.once(processesOf, status);
  return adviceAbout(subjectOf(snapshot, draft, subject), known ?? []);
}

/** In the order of the topics. */
export function adviceAbout(
  subject: Omit<AdviceSubject, "before">,
  known: readonly Advice[],
): readonly Advice[] | undefined {
  const found = adviceTopics.flatMap((topic): readonly Advice[] => {
    const before = known.find((advice) => advice.topic === topic);
    const judgement = judges[topic]({ ...subject, before });
    if (judgement === "nothing") return [];
    if (judgement !== "unknown") return [judgement];
    return before === undefined ? [] : [before];
  });
  return found.length === 0 ? undefined : found;
}

function subjectOf(
  { cluster, database }: Snapshot,
  { groups, desired }: Draft,
  processes: ReturnType<typeof processesOf>,
): Omit<AdviceSubject, "before"> {
  const staying = groups.filter((group) => !isMarkedForRemoval(group));
  const all = new Set(groups.map(({ processGroupID }) => processGroupID));
  const ids = new Set(staying.map(({ processGroupID }) => processGroupID));
  const usable = processes.filter(
    ({ excluded, class_type: processClass = "" }) => excluded !== true && !isTest(processClass),
  );
  const recovery = database.kind === "seen" ? database.status.cluster?.recovery_state : undefined;
  return {
    spec: cluster.spec,
    configuration: desired.configuration,
    groups: staying,
    own: usable.filter((process) => ids.has(groupIdOf(process))),
    others: usable.filter((process) => !all.has(groupIdOf(process))),
    secondsSinceRecovery: recovery?.seconds_since_last_recovered ?? 0,
  };
}
