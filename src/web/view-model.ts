// Everything that the page of the dashboard gets, as types: the server turns objects and statuses into these values, the
// page only draws them. How they travel is in protocol.md. There are times in here and no ages, so that a cluster at rest
// changes nothing. What comes and goes one by one is a record by id, so that a difference is small; its order is the
// page's. Times are milliseconds since 1970 by the clock of the API server, or texts of RFC 3339 where `explain` has them so.
// Rules: spec/web.md [WEB1].
import type { DatabaseFigures } from "../model/database-figures.ts";
import type { ProcessRow } from "../model/process-row.ts";
import type { BackupPage } from "../plugin/explain/backup.ts";
import type { ObjectTrouble, ToldEvent } from "../plugin/explain/objects.ts";
import type { ExplainedWait, ExplainPage } from "../plugin/explain/page.ts";
import type { RestorePage } from "../plugin/explain/restore.ts";
import type { PlannedAct } from "../plugin/plan/plan-view.ts";
import type { ClassRow } from "../plugin/status/group-counts.ts";
import type { StatusRow } from "../plugin/status/status-view.ts";
import type { TreeKind } from "../plugin/tree/tree-view.ts";
import type { PreviewReport } from "../preview/report.ts";
import type { FigureName } from "./figure-names.ts";

/** What a stream of `/events` carries: all clusters in short, and the one that the page asked for in full. */
export interface PageModel {
  readonly session: SessionModel;
  /** By "namespace/name". */
  readonly clusters: Readonly<Record<string, ClusterCard>>;
  /** Absent when the stream asked for none. */
  readonly cluster?: ClusterModel | MissingCluster;
}

export interface SessionModel {
  /** "live": an API server that is watched; "file": a support bundle or a saved picture, which does not change. */
  readonly source: "live" | "file";
  /** The URL of the API server, or the name of the file. */
  readonly where: string;
  /** Empty: of all namespaces. */
  readonly namespace: string;
  /** Of a file: when it was taken. */
  readonly takenAtMs?: number;
  /** How many times as fast as that of the browser the clock of the API server runs: 1, but for emulations. */
  readonly speed: number;
  readonly version: string;
  /** What this user may not see or what does not answer, in sentences; empty when everything is there. */
  readonly missing: readonly string[];
  /** Whether previews can be made here. When not, why. */
  readonly previewProblem?: string;
}

/** How much something needs somebody: 3 a person now, 2 a look, 1 nobody: it is on its way, 0 nobody. */
export type Urgency = 0 | 1 | 2 | 3;

/** Of all backups of a cluster. */
export interface BackupTroubles {
  /** How many need somebody now. */
  readonly inTrouble: number;
  /** How many need no more than a look: they run, and less well than they should. */
  readonly worthALook: number;
  /** The one that needs somebody most, where there is one. */
  readonly worst?: {
    readonly backup: string;
    readonly urgency: Urgency;
    readonly headline: string;
    readonly remedy?: string;
  };
}

/** One cluster in short: the line of `kubectl fdb status`. */
export interface ClusterCard extends Omit<StatusRow, "asOf" | "waits"> {
  /** The more urgent of what it needs itself and what its backups need. */
  readonly urgency: Urgency;
  /** Of the cluster itself, whatever its backups need. */
  readonly ownUrgency: Urgency;
  readonly waits: {
    readonly person: number;
    readonly look: number;
    readonly passing: number;
    /** The one that matters most. */
    readonly first?: ExplainedWait;
  };
  /** Of this cluster; absent where they may not be read. */
  readonly backups?: BackupTroubles & { readonly total: number };
  /** How many volumes of process groups that are gone wait to be deleted, where there are any. */
  readonly quarantine?: number;
}

/** The cluster of the stream does not exist (any more), or may not be read. */
export interface MissingCluster {
  readonly isMissing: true;
  readonly namespace: string;
  readonly name: string;
  readonly why: string;
}

export interface ClusterModel {
  readonly isMissing: false;
  readonly namespace: string;
  readonly name: string;
  readonly now: NowModel;
  readonly map: MapModel;
  readonly timeLine: TimeLineModel;
  readonly figures: FiguresModel;
  readonly backups: BackupsModel;
  /** Commands that a person may copy; the page itself changes nothing. */
  readonly commands: readonly CopiedCommand[];
}

export interface CopiedCommand {
  /** Such as "Why is that?". */
  readonly title: string;
  readonly command: string;
}

export interface BackupWait extends ExplainedWait {
  readonly backup: string;
}

/** What `kubectl fdb explain` and `kubectl fdb plan` say. */
export interface NowModel extends Pick<
  ExplainPage,
  | ("verdict" | "headline" | "version" | "redundancyMode" | "serving" | "sound" | "reconciled")
  | (
      | "warning"
      | "advice"
      | "waits"
      | "outrun"
      | "processGroups"
      | "objects"
      | "recent"
      | "stale"
      | "unread"
    )
> {
  readonly urgency: Urgency;
  readonly ownUrgency: Urgency;
  /** Volumes of process groups that are gone, each with the command that gives it back. */
  readonly quarantine: readonly (ExplainPage["quarantine"][0] & { readonly command: string })[];
  /** What the operator is about to do, in the order of its steps. */
  readonly ahead: readonly PlannedAct[];
  /** What is said instead where that is nothing. */
  readonly nothingAhead?: string;
  /** What backups of this cluster wait for that need somebody, or a look. */
  readonly backupWaits: readonly BackupWait[];
  /** By process class. */
  readonly classes: readonly ClassRow[];
  /** The paragraph of the manual about a reason for waiting, by reason. */
  readonly meanings: Readonly<Record<string, string>>;
}

/**
 * The map: columns are regions, datacenters, halls and zones as far as they tell something, rows are nodes, and on each row lie the
 * tiles of its process groups.
 */
export interface MapModel {
  readonly total: number;
  readonly inTrouble: number;
  /** Why there are no roles: the database could not be asked. */
  readonly silent?: string;
  /** In order. At least one when there is a process group. */
  readonly columns: readonly MapColumn[];
  /** The Kubernetes zones of the nodes, in order; empty where nodes have none, or may not be read. */
  readonly kubernetesZones: readonly string[];
  /** By process group id. */
  readonly tiles: Readonly<Record<string, Tile>>;
}

export interface MapColumn {
  /** Stays the same while the place does. */
  readonly id: string;
  /** From the outside to the inside; empty when no place is known. */
  readonly places: readonly MapPlace[];
  /** In order. */
  readonly rows: readonly MapRow[];
}

export interface MapPlace {
  /**
   * "fault domain": what the database calls a zone, so that it is not taken for a zone of Kubernetes; "Kubernetes zone": of the
   * nodes, where the database itself knows of no place wider than a node; "last known": a fault domain of process groups that
   * are nowhere now.
   */
  readonly kind:
    | Exclude<TreeKind, "node" | "zone">
    | "fault domain"
    | "Kubernetes zone"
    | "last known";
  /** Empty where nobody knows it. */
  readonly name: string;
  /** Such as "primary", "satellite". */
  readonly notes: readonly string[];
}

export interface MapRow {
  /** Empty: those without a node. */
  readonly node: string;
  /** Such as "not ready", "cordoned". */
  readonly notes: readonly string[];
  /** Process group ids, in order; each is in one row of one column. */
  readonly groups: readonly string[];
}

/**
 * well: nothing is wrong; outdated: made from an older specification; starting: its pod is not there or does not run yet;
 * failing: it should run and does not; leaving: marked for removal; foreign: the database knows it, the resource does not.
 */
export type TileState =
  | ("well" | "outdated" | "starting" | "failing" | "leaving" | "foreign")
  // Without a pod, because the database sleeps.
  | "asleep";

export interface Tile {
  readonly group: string;
  readonly processClass: string;
  readonly state: TileState;
  /** Of the database, such as log, storage, proxy; sorted, without "coordinator". */
  readonly roles: readonly string[];
  readonly isCoordinator: boolean;
  /** As the database sees them. */
  readonly processes: number;
  /** Its conditions by name, and what the database and its pod say of it. */
  readonly troubles: readonly string[];
}

/** The answer of `/story`: everything that is known of one process group. */
export interface Story {
  readonly group: string;
  readonly processClass: string;
  readonly state: TileState;
  readonly dataCenter: string;
  readonly hall: string;
  /** What the database calls its zone. */
  readonly faultDomain: string;
  readonly node: string;
  /** Each in words. */
  readonly conditions: readonly {
    readonly type: string;
    readonly meaning: string;
    readonly sinceMs?: number;
  }[];
  readonly removal?: { readonly text: string; readonly sinceMs?: number };
  readonly addresses: readonly string[];
  readonly pod?: StoryPod;
  readonly volume?: StoryVolume;
  /** Of the database, one for each server in the pod. */
  readonly processes: readonly ProcessRow[];
  /** Of the pod, the claim and the group, the newest first. */
  readonly events: readonly ToldEvent[];
  readonly commands: readonly CopiedCommand[];
}

export interface StoryPod {
  readonly name: string;
  readonly phase: string;
  readonly isReady: boolean;
  /** What Kubernetes says is wrong. */
  readonly trouble?: string;
  readonly createdMs?: number;
  readonly containers: readonly {
    readonly name: string;
    readonly image: string;
    readonly state: string;
    readonly restarts: number;
    /** Since when it is in this state. */
    readonly sinceMs?: number;
    readonly lastEnd?: { readonly text: string; readonly atMs?: number };
  }[];
}

export interface StoryVolume {
  readonly claim: string;
  readonly phase: string;
  readonly capacity: string;
  readonly storageClass: string;
  readonly trouble?: string;
}

export interface TimeLineModel {
  /** Since when the dashboard looks: what was before is known from events alone. */
  readonly sinceMs: number;
  /** By id; at most 500, the oldest are dropped first. */
  readonly entries: Readonly<Record<string, TimeLineEntry>>;
}

/**
 * act: the operator did something; recovery: the database recovered, a pause for applications; wait: the operator waited;
 * failure: something broke or was refused; change: somebody changed the resource, or its answer to "how is it" changed.
 */
export type TimeLineKind = "act" | "recovery" | "wait" | "failure" | "change";

export interface TimeLineEntry {
  readonly kind: TimeLineKind;
  readonly fromMs: number;
  /** The same as `fromMs` for a moment; absent while it goes on. */
  readonly toMs?: number;
  /** One word, such as the reason of an event or of a wait. */
  readonly reason: string;
  readonly text: string;
  readonly remedy?: string;
  /** Such as pod/sample-log-1. */
  readonly object?: string;
  /** How often it was told, when more than once. */
  readonly count?: number;
  /** Of an act that was told more than once: when first. */
  readonly firstMs?: number;
}

/** The last minutes, a column for each look at the database. All lists are equally long; at most 360 points. */
export interface FiguresModel {
  /** Why there is nothing new. */
  readonly silent?: string;
  /** The last look, in full; absent when the database never answered. */
  readonly last?: DatabaseFigures;
  readonly timesMs: readonly number[];
  /** null: it was not told at that time. A series without any value is absent. */
  readonly series: Readonly<Partial<Record<FigureName, readonly (number | null)[]>>>;
}

export interface BackupsModel extends BackupTroubles {
  /** Why backups cannot be shown. */
  readonly problem?: string;
  /** By name: those of this cluster. */
  readonly backups: Readonly<Record<string, BackupCard>>;
  /** By name: those into this cluster. */
  readonly restores: Readonly<Record<string, RestoreCard>>;
}

export interface BackupCard extends Pick<
  BackupPage,
  | ("backup" | "verdict" | "headline" | "running" | "restorable" | "upToDate" | "reconciled")
  | ("waits" | "objects")
> {
  readonly urgency: Urgency;
  /** Where there are drills. */
  readonly verified?: BackupPage["verified"];
  readonly state?: string;
  readonly destination?: string;
  /** What can be restored. A time is absent where only the version is known. */
  readonly window?: { readonly from: RestorePoint; readonly to: RestorePoint };
  /** How far the last point that can be restored was behind when the status was written. */
  readonly lagSeconds?: number;
  readonly writtenBytes?: number;
  readonly snapshotPercent?: number;
  readonly nextRunMs?: number;
  /** Of a schedule, the newest last. */
  readonly runs: readonly {
    readonly atMs: number;
    readonly result: string;
    readonly message?: string;
  }[];
  readonly drills?: DrillsModel;
}

export interface RestorePoint {
  readonly version?: number;
  readonly atMs?: number;
}

export interface DrillsModel {
  readonly last?: {
    /** When it ended, where that is known, else when it was due. */
    readonly atMs: number;
    readonly result: string;
    readonly message: string;
    /** The database was empty: a drill that brings nothing back proves nothing. */
    readonly isEmpty?: true;
  };
  /** Where the last one did not pass. */
  readonly lastPassedMs?: number;
  readonly nextMs?: number;
  /** The one that is under way. */
  readonly running?: { readonly cluster: string; readonly phase: string };
}

export interface RestoreCard extends Pick<
  RestorePage,
  "restore" | "verdict" | "headline" | "running" | "completed" | "waits" | "objects"
> {
  readonly urgency: Urgency;
  readonly state?: string;
  readonly percent?: number;
  readonly writtenBytes?: number;
  readonly target?: RestorePoint;
  readonly startMs?: number;
  readonly endMs?: number;
  /** When the end is to be expected. */
  readonly etaMs?: number;
  readonly source?: string;
}

/** The body of POST `/preview`: one change at a time. */
export interface PreviewRequest {
  readonly namespace: string;
  readonly cluster: string;
  readonly change:
    | { readonly type: "yaml"; readonly yaml: string }
    | { readonly type: "upgrade"; readonly version: string }
    | { readonly type: "loseNode"; readonly node: string }
    | { readonly type: "loseZone"; readonly zone: string }
    | { readonly type: "drain"; readonly node: string };
}

/** The answer of POST `/preview` with status 200. Others are a `Problem`. */
export interface PreviewAnswer {
  readonly report: PreviewReport;
  /** As `kubectl fdb preview` prints it. */
  readonly text: string;
}

/** The body of every answer that is no success. */
export interface Problem {
  /** A sentence for the person who sees the page. */
  readonly problem: string;
}

export type { ExplainedWait, ObjectTrouble, ToldEvent };
