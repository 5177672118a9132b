// `kubectl fdb status`: all clusters in a table, or one in a page with the figures of its database. Pure.
// Rules: spec/plugin.md [VW11], [VW12].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { wantedCounts } from "../../api/wanted-counts.ts";
import type { Stored } from "../../kube/resource.ts";
import { hasReported, isMarkedForRemoval } from "../../model/process-group.ts";
import { databaseFigures } from "../../model/database-figures.ts";
import type { DatabaseFigures } from "../../model/database-figures.ts";
import type { DatabaseAnswer } from "../database/ask-database.ts";
import { isOutdatedCondition } from "../explain/groups.ts";
import { explainCluster } from "../explain/page.ts";
import type { ExplainInput, ExplainPage } from "../explain/page.ts";

/** What the table shows of a cluster, and what `-o json` prints of each. */
export interface StatusRow extends Pick<
  ExplainPage,
  | ("cluster" | "namespace" | "verdict" | "headline" | "version" | "redundancyMode")
  | ("serving" | "sound" | "reconciled" | "doing" | "waits" | "stale" | "asOf")
> {
  readonly processGroups: {
    readonly total: number;
    readonly wanted: number;
    readonly well: number;
    readonly outdated: number;
    readonly starting: number;
    readonly leaving: number;
  };
  readonly createdAt?: string;
}

export function statusRow(cluster: Stored<FoundationDBCluster>, nowMs: number): StatusRow {
  const nothing = { pods: undefined, pvcs: undefined, events: undefined, nodes: undefined };
  const page = explainCluster({ cluster, ...nothing, unread: [] }, nowMs);
  const { cluster: name, namespace, verdict, headline, version, redundancyMode } = page;
  const { serving, sound, reconciled, doing, waits, stale, asOf } = page;
  const classes = classRows(cluster);
  const sum = (of: (row: ClassRow) => number): number =>
    classes.reduce((total, row) => total + of(row), 0);
  const { creationTimestamp: createdAt } = cluster.metadata;
  return {
    ...{ cluster: name, namespace, asOf, verdict, headline, version, redundancyMode },
    ...{ serving, sound, reconciled, doing, waits, stale },
    processGroups: {
      total: sum(({ total }) => total),
      wanted: sum(({ wanted }) => wanted),
      well: sum(({ well }) => well),
      outdated: sum(({ outdated }) => outdated),
      starting: sum(({ starting }) => starting),
      leaving: sum(({ leaving }) => leaving),
    },
    ...(createdAt === undefined ? {} : { createdAt }),
  };
}

export interface ClassRow {
  readonly processClass: string;
  readonly wanted: number;
  readonly total: number;
  /** Without a condition, and here to stay. */
  readonly well: number;
  /** Here to stay, and with nothing else to be said of them than that they were made from an older specification. */
  readonly outdated: number;
  /** Here to stay, not well, and never seen by the database so far. */
  readonly starting: number;
  readonly leaving: number;
}

export function classRows({ spec, status }: FoundationDBCluster): ClassRow[] {
  const wanted: Readonly<Record<string, number>> = wantedCounts(spec);
  const groups = Map.groupBy(status?.processGroups ?? [], ({ processClass }) => processClass);
  const classes = new Set([
    ...Object.keys(wanted).filter((name) => (wanted[name] ?? 0) > 0),
    ...groups.keys(),
  ]);
  return [...classes].toSorted().map((processClass) => {
    const found = groups.get(processClass) ?? [];
    const staying = found.filter((group) => !isMarkedForRemoval(group));
    const fine = (some: typeof staying, isFine: (condition: string) => boolean): number =>
      some.filter(({ processGroupConditions: conditions = [] }) =>
        conditions.every(({ type }) => type === "Ready" || isFine(type)),
      ).length;
    const well = fine(staying, () => false);
    const unseen = staying.filter((group) => !hasReported(group));
    return {
      processClass,
      wanted: Math.max(0, wanted[processClass] ?? 0),
      total: found.length,
      well,
      outdated: fine(staying, isOutdatedCondition) - well,
      starting: unseen.length - fine(unseen, isOutdatedCondition),
      leaving: found.length - staying.length,
    };
  });
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
