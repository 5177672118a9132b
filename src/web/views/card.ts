// One cluster in short, from its resource alone: the row of `kubectl fdb status` without what only passes.
// Rules: spec/web.md [WEB4].
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { Stored } from "../../kube/resource.ts";
import { byText } from "../../model/process-row.ts";
import type { BackupPage } from "../../plugin/explain/backup.ts";
import type { ExplainedWait, Verdict } from "../../plugin/explain/page.ts";
import { known } from "../../plugin/known.ts";
import { backupRow } from "../../plugin/lists/list-views.ts";
import { statusRow } from "../../plugin/status/status-view.ts";
import type { BackupTroubles, ClusterCard, Urgency } from "../view-model.ts";

const urgencies: Readonly<Record<Verdict, Urgency>> = {
  ...{ down: 3, stuck: 3, invalid: 3, unknown: 3 },
  ...{ degraded: 2, unseen: 2 },
  ...{ working: 1, starting: 1, deleting: 1, paused: 1 },
  ...{ healthy: 0, asleep: 0 },
};

/** How much something needs somebody, by its verdict and by what it waits for. */
export function urgencyOf(verdict: Verdict, waits: readonly ExplainedWait[]): Urgency {
  const urgency = urgencies[verdict];
  const needsLook = waits.some(({ concern }) => concern !== "passing");
  return urgency === 1 && needsLook ? 2 : urgency;
}

/** A cluster needs somebody as much as it does itself, or as the backup of it that needs somebody most. */
export function withBackups(own: Urgency, troubles: BackupTroubles | undefined): Urgency {
  const ofBackup = troubles?.worst?.urgency ?? 0;
  return ofBackup > own ? ofBackup : own;
}

type BackupLine = Pick<BackupPage, "backup" | "headline" | "verdict" | "waits">;

/** How many backups are in trouble, how many are worth a look, and which needs somebody most. */
export function backupTroubles(backups: readonly BackupLine[]): BackupTroubles {
  const ill = backups
    .map(({ backup, headline, verdict, waits }) => ({
      ...{ backup, urgency: urgencyOf(verdict, waits), headline },
      ...known({ remedy: remedyIn(waits) }),
    }))
    .filter(({ urgency }) => urgency > 1)
    .toSorted((left, right) => right.urgency - left.urgency || byText(left.backup, right.backup));
  const [worst] = ill;
  const inTrouble = ill.filter(({ urgency }) => urgency === 3).length;
  return {
    ...{ inTrouble, worthALook: ill.length - inTrouble },
    ...(worst === undefined ? {} : { worst }),
  };
}

const order = ["person", "look", "passing"] as const;

/** Of the wait that matters most among those that have one and do not pass by themselves. */
function remedyIn(waits: readonly ExplainedWait[]): string | undefined {
  const all = order
    .slice(0, 2)
    .flatMap((wanted) => waits.filter(({ concern }) => concern === wanted));
  return all.find(({ remedy }) => remedy)?.remedy;
}

/** `backups` are those of this cluster; undefined where they may not be read. */
export function clusterCard(
  cluster: Stored<FoundationDBCluster>,
  backups: readonly Stored<FoundationDBBackup>[] | undefined,
  nowMs: number,
): ClusterCard {
  const { asOf: _, waits, ...row } = statusRow(cluster, nowMs, "time");
  const of = (wanted: ExplainedWait["concern"]): ExplainedWait[] =>
    waits.filter(({ concern }) => concern === wanted);
  const [first] = order.flatMap(of);
  const rows = backups?.map((backup) => backupRow(backup, nowMs));
  const troubles = rows && backupTroubles(rows);
  const ownUrgency = urgencyOf(row.verdict, waits);
  const quarantined = cluster.status?.quarantine?.length ?? 0;
  return {
    ...row,
    urgency: withBackups(ownUrgency, troubles),
    ownUrgency,
    waits: {
      ...{ person: of("person").length, look: of("look").length, passing: of("passing").length },
      ...(first === undefined ? {} : { first }),
    },
    ...(troubles === undefined ? {} : { backups: { total: rows?.length ?? 0, ...troubles } }),
    ...(quarantined === 0 ? {} : { quarantine: quarantined }),
  };
}
