// One cluster in short, from its resource alone: the row of `kubectl fdb status` without what only passes.
// Rules: spec/web.md [WEB4].
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { Stored } from "../../kube/resource.ts";
import type { ExplainedWait, Verdict } from "../../plugin/explain/page.ts";
import { backupRow } from "../../plugin/lists/list-views.ts";
import { statusRow } from "../../plugin/status/status-view.ts";
import type { ClusterCard } from "../view-model.ts";

const urgencies: Readonly<Record<Verdict, ClusterCard["urgency"]>> = {
  ...{ down: 3, stuck: 3, invalid: 3, unknown: 3 },
  ...{ degraded: 2, unseen: 2 },
  ...{ working: 1, starting: 1, deleting: 1, paused: 1 },
  ...{ healthy: 0, asleep: 0 },
};

/** How much something needs somebody, by its verdict and by what it waits for. */
export function urgencyOf(
  verdict: Verdict,
  waits: readonly ExplainedWait[],
): ClusterCard["urgency"] {
  const urgency = urgencies[verdict];
  const needsLook = waits.some(({ concern }) => concern !== "passing");
  return urgency === 1 && needsLook ? 2 : urgency;
}

/** A cluster that is well while a backup of it is not is worth a look. */
export function withBackups(
  urgency: ClusterCard["urgency"],
  backupsInTrouble = 0,
): ClusterCard["urgency"] {
  return backupsInTrouble > 0 && urgency < 2 ? 2 : urgency;
}

const order = ["person", "look", "passing"] as const;

/** `backups` are those of this cluster; undefined where they may not be read. */
export function clusterCard(
  cluster: Stored<FoundationDBCluster>,
  backups: readonly Stored<FoundationDBBackup>[] | undefined,
  nowMs: number,
): ClusterCard {
  const { asOf: _, waits, ...row } = statusRow(cluster, nowMs);
  const of = (wanted: ExplainedWait["concern"]): ExplainedWait[] =>
    waits.filter(({ concern }) => concern === wanted);
  const [first] = order.flatMap(of);
  const count = backups && countOf(backups, nowMs);
  const quarantined = cluster.status?.quarantine?.length ?? 0;
  return {
    ...row,
    urgency: withBackups(urgencyOf(row.verdict, waits), count?.inTrouble),
    waits: {
      ...{ person: of("person").length, look: of("look").length, passing: of("passing").length },
      ...(first === undefined ? {} : { first }),
    },
    ...(count === undefined ? {} : { backups: count }),
    ...(quarantined === 0 ? {} : { quarantine: quarantined }),
  };
}

function countOf(
  backups: readonly Stored<FoundationDBBackup>[],
  nowMs: number,
): NonNullable<ClusterCard["backups"]> {
  const rows = backups.map((backup) => backupRow(backup, nowMs));
  return {
    total: rows.length,
    inTrouble: rows.filter(({ verdict, waits }) => urgencyOf(verdict, waits) > 1).length,
  };
}
