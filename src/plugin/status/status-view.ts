// `kubectl fdb status`: all clusters in a table, or one in a page with the figures of its database. Pure.
// Rules: spec/plugin.md [VW11], [VW12].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { wantedCounts } from "../../api/wanted-counts.ts";
import type { Stored } from "../../kube/resource.ts";
import { groupState } from "../../model/group-state.ts";
import type { GroupState } from "../../model/group-state.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";
import { podNameOf } from "../../model/process-group-id.ts";
import { reasonOf } from "../../plan/reasons/registry.ts";
import { databaseFigures } from "../../model/database-figures.ts";
import type { DatabaseFigures } from "../../model/database-figures.ts";
import type { DatabaseAnswer } from "../database/ask-database.ts";
import { explainCluster } from "../explain/page.ts";
import type { ExplainInput, ExplainPage, Lasting } from "../explain/page.ts";
import { countsOf } from "./group-counts.ts";
import type { ClassRow, GroupCounts } from "./group-counts.ts";

/** What the table shows of a cluster, and what `-o json` prints of each. */
export interface StatusRow extends Pick<
  ExplainPage,
  | ("cluster" | "namespace" | "verdict" | "headline" | "version" | "redundancyMode")
  | ("serving" | "sound" | "reconciled" | "doing" | "waits" | "stale" | "asOf")
> {
  readonly processGroups: GroupCounts;
  readonly createdAt?: string;
}

export function statusRow(
  cluster: Stored<FoundationDBCluster>,
  nowMs: number,
  lasting: Lasting = "age",
): StatusRow {
  const nothing = { pods: undefined, pvcs: undefined, events: undefined, nodes: undefined };
  const page = explainCluster({ cluster, ...nothing, unread: [] }, nowMs, lasting);
  const { cluster: name, namespace, verdict, headline, version, redundancyMode } = page;
  const { serving, sound, reconciled, doing, waits, stale, asOf } = page;
  const { creationTimestamp: createdAt } = cluster.metadata;
  return {
    ...{ cluster: name, namespace, asOf, verdict, headline, version, redundancyMode },
    ...{ serving, sound, reconciled, doing, waits, stale },
    processGroups: countsOf(classRows(cluster)),
    ...(createdAt === undefined ? {} : { createdAt }),
  };
}

/** `stateOf` tells what is known of a process group besides its status. */
export function classRows(
  cluster: FoundationDBCluster,
  stateOf: (id: string) => GroupState | undefined = () => undefined,
): ClassRow[] {
  const { spec, status, metadata } = cluster;
  const wanted: Readonly<Record<string, number>> = wantedCounts(spec);
  const groups = Map.groupBy(status?.processGroups ?? [], ({ processClass }) => processClass);
  const classes = new Set([
    ...Object.keys(wanted).filter((name) => (wanted[name] ?? 0) > 0),
    ...groups.keys(),
  ]);
  const stuck = stuckPods(cluster);
  return [...classes].toSorted().map((processClass) => {
    const found = groups.get(processClass) ?? [];
    const counts = { failing: 0, starting: 0, leaving: 0, outdated: 0, well: 0 };
    for (const group of found) {
      const id = group.processGroupID;
      const pod = podNameOf(metadata.name ?? "", processClass, id);
      counts[stateOf(id) ?? groupState(group, stuck.has(`pod/${pod}`))] += 1;
    }
    const wantedHere = Math.max(0, wanted[processClass] ?? 0);
    const staying = found.filter((group) => !isMarkedForRemoval(group)).length;
    return {
      ...{ processClass, wanted: wantedHere, total: found.length },
      ...{ missing: Math.max(0, wantedHere - staying), ...counts },
    };
  });
}

/** Pods that the operator says do not start by waiting. */
function stuckPods({ status }: FoundationDBCluster): ReadonlySet<string | undefined> {
  const waits = status?.blockedBy ?? [];
  return new Set(
    waits.filter(({ reason }) => reasonOf(reason)?.rank === "start").map(({ object }) => object),
  );
}

export interface StatusPage extends ExplainPage {
  readonly classes: readonly ClassRow[];
  /** Absent when the database could not be asked. */
  readonly database?: DatabaseFigures;
  readonly silent?: string;
}

export function statusPage(input: ExplainInput, answer: DatabaseAnswer, nowMs: number): StatusPage {
  return {
    ...explainCluster(input, nowMs),
    classes: classRows(input.cluster),
    ...(answer.kind === "answered"
      ? { database: databaseFigures(answer.status) }
      : { silent: answer.why }),
  };
}
