// The backups of a cluster and the restores into it: the pages of `explain` with their figures as numbers.
// Rules: spec/web.md [WEB9].
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { agentLabel } from "../../build/backup-deployment.ts";
import { agentsNameOf } from "../../build/restore-agents.ts";
import { parseDurationMs } from "../../env/parse-duration.ts";
import type { Event, Pod } from "../../kube/generated/types.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Stored } from "../../kube/resource.ts";
import { parseTime } from "../../kube/time.ts";
import { explainBackup } from "../../plugin/explain/backup.ts";
import { explainRestore } from "../../plugin/explain/restore.ts";
import { known } from "../../plugin/known.ts";
import { backupTroubles, urgencyOf } from "./card.ts";
import type {
  BackupCard,
  BackupsModel,
  DrillsModel,
  RestoreCard,
  RestorePoint,
} from "../view-model.ts";

export interface BackupsInput {
  /** Of this cluster; undefined where they may not be read. */
  readonly backups: readonly Stored<FoundationDBBackup>[] | undefined;
  readonly restores: readonly Stored<FoundationDBRestore>[] | undefined;
  /** Of the agents of each backup and restore, by their label. */
  readonly podsOf: (
    object: Stored<FoundationDBBackup | FoundationDBRestore>,
  ) => readonly Stored<Pod>[] | undefined;
  readonly events: readonly Stored<Event>[] | undefined;
  /** Why there are none. */
  readonly problem?: string;
}

/** Of all that there are, those from this cluster and into it. */
export function ofCluster(
  { metadata: { namespace, name } }: KubeObject,
  { backups, restores }: Pick<BackupsInput, "backups" | "restores">,
): Pick<BackupsInput, "backups" | "restores"> {
  const isHere = ({ metadata }: KubeObject): boolean => metadata.namespace === namespace;
  return {
    backups: backups?.filter((one) => isHere(one) && one.spec.clusterName === name),
    restores: restores?.filter((one) => isHere(one) && one.spec.destinationClusterName === name),
  };
}

/** Of all pods, the agents of this backup or restore. */
export function agentsOf(
  object: KubeObject,
  pods: readonly Stored<Pod>[] | undefined,
): Stored<Pod>[] | undefined {
  const label = agentsNameOf(object);
  return pods?.filter(({ metadata }) => metadata.labels?.[agentLabel] === label);
}

export function backupsModel(input: BackupsInput, nowMs: number): BackupsModel {
  const { backups = [], restores = [], problem } = input;
  const byName = <T>(cards: readonly (readonly [string, T])[]): Record<string, T> =>
    Object.fromEntries(cards);
  const cards = backups.map((one) => backupCard(one, input, nowMs));
  return {
    ...(problem === undefined ? {} : { problem }),
    ...backupTroubles(cards),
    backups: byName(cards.map((card) => [card.backup, card])),
    restores: byName(
      restores.map((one) => [one.metadata.name ?? "", restoreCard(one, input, nowMs)]),
    ),
  };
}

type Around = Pick<BackupsInput, "events" | "podsOf">;

export function backupCard(
  backup: Stored<FoundationDBBackup>,
  { events, podsOf }: Around,
  nowMs: number,
): BackupCard {
  const page = explainBackup({ backup, pods: podsOf(backup), events, unread: [] }, nowMs);
  const { verdict, headline, running, restorable, upToDate, reconciled, verified } = page;
  const { state, backupDetails, restorable: window, lag, bytes, snapshot } = backup.status ?? {};
  const { schedule, runs = [] } = backup.status ?? {};
  // 2d3h: days are no unit of Go.
  const lagMs = parseDurationMs(
    (lag ?? "").replace(/^\d+(?=d)/, (days) => `${Number(days) * 24}`).replace("d", "h"),
  );
  const drills = drillsOf(backup);
  return {
    ...{ backup: page.backup, verdict, headline, running, restorable, upToDate, reconciled },
    ...{ waits: page.waits, objects: page.objects, urgency: urgencyOf(verdict, page.waits) },
    ...known({
      ...{ verified, state, destination: backupDetails?.url },
      window: window && { from: pointOf(window.from), to: pointOf(window.to) },
      lagSeconds: lagMs === undefined ? undefined : lagMs / 1000,
      writtenBytes: bytes?.total,
      snapshotPercent: snapshot?.progress,
      nextRunMs: backup.spec.schedule && parseTime(schedule?.next),
    }),
    runs: runs.map(({ time, result, message }) => ({
      ...{ atMs: parseTime(time) ?? 0, result },
      ...known({ message }),
    })),
    ...(drills === undefined ? {} : { drills }),
  };
}

function drillsOf({ spec, status = {} }: FoundationDBBackup): DrillsModel | undefined {
  const { drill, lastVerification: last, verification } = status;
  if (spec.verification === undefined && last === undefined) return undefined;
  const isPassed = last?.result === "Passed";
  const passedMs = parseTime(last?.lastPassed);
  return known({
    last: last && {
      ...{ result: last.result, message: last.message ?? "" },
      atMs: (isPassed ? passedMs : undefined) ?? parseTime(last.time) ?? 0,
      ...(isPassed && last.keys === 0 ? { isEmpty: true as const } : {}),
    },
    lastPassedMs: isPassed ? undefined : passedMs,
    nextMs: spec.verification && parseTime(verification?.next),
    running: drill && { cluster: drill.name, phase: drill.phase },
  });
}

export function restoreCard(
  restore: Stored<FoundationDBRestore>,
  { events, podsOf }: Around,
  nowMs: number,
): RestoreCard {
  const page = explainRestore({ restore, pods: podsOf(restore), events, unread: [] }, nowMs);
  const { verdict, headline, running, completed, waits, objects } = page;
  const { state, progress, target, startTime, endTime, url } = restore.status ?? {};
  return {
    ...{ restore: page.restore, verdict, headline, running, completed, waits, objects },
    urgency: urgencyOf(verdict, waits),
    ...known({
      ...{ state, percent: progress?.percent, writtenBytes: progress?.bytes, source: url },
      target: target && pointOf(target),
      startMs: parseTime(startTime),
      endMs: parseTime(endTime),
      etaMs: parseTime(progress?.eta),
    }),
  };
}

function pointOf(point: { readonly version?: number; readonly time?: string } = {}): RestorePoint {
  return known({ version: point.version, atMs: parseTime(point.time) });
}
