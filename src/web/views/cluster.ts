// One cluster in full, put together from what the other views make of it. Rules: spec/web.md [WEB1].
import type { ExplainInput } from "../../plugin/explain/page.ts";
import type { DatabaseAnswer } from "../../plugin/database/ask-database.ts";
import { seenInDatabase } from "../../plugin/explain/seen-since.ts";
import { classRows } from "../../plugin/status/status-view.ts";
import type { ClassRow } from "../../plugin/status/group-counts.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type {
  BackupsModel,
  BackupWait,
  ClusterModel,
  FiguresModel,
  MapModel,
  TimeLineModel,
} from "../view-model.ts";
import { backupsModel } from "./backups.ts";
import type { BackupsInput } from "./backups.ts";
import { withBackups } from "./card.ts";
import { clusterCommands } from "./commands.ts";
import { mapModel } from "./map.ts";
import { meaningsOf, nowModel } from "./now.ts";
import { storyOf } from "./story.ts";
import type { StoryInput } from "./story.ts";

export interface ClusterInput {
  readonly explained: ExplainInput;
  /** Of the last look at the database. */
  readonly answer: DatabaseAnswer;
  readonly backups: BackupsInput;
  readonly timeLine: TimeLineModel;
  readonly figures: FiguresModel;
}

export function clusterModel(input: ClusterInput, nowMs: number): ClusterModel {
  const { explained, answer, backups, timeLine, figures } = input;
  const { cluster } = explained;
  const backedUp = backupsModel(backups, nowMs);
  const map = mapModel(placesOf(input));
  const database = answer.kind === "answered" ? { database: seenInDatabase(answer.status) } : {};
  const now = nowModel({ ...explained, ...database }, nowMs);
  const backupWaits = waitsOf(backedUp);
  return {
    isMissing: false,
    namespace: cluster.metadata.namespace ?? "",
    name: cluster.metadata.name ?? "",
    now: {
      ...now,
      urgency: withBackups(now.ownUrgency, backedUp),
      classes: classesOnMap(cluster, map),
      backupWaits,
      meanings: { ...now.meanings, ...meaningsOf(backupWaits) },
    },
    map,
    ...{ timeLine, figures },
    backups: backedUp,
    commands: clusterCommands(cluster),
  };
}

/** Of the backups that need somebody, or a look; what passes by itself is told beside the backup. */
function waitsOf({ backups }: BackupsModel): BackupWait[] {
  return Object.values(backups).flatMap(({ backup, waits }) =>
    waits
      .filter(({ concern }) => concern !== "passing")
      .map((wait): BackupWait => ({ ...wait, backup })),
  );
}

/** So that everything above and beside the map counts what the map shows. */
function classesOnMap(cluster: FoundationDBCluster, { tiles }: MapModel): readonly ClassRow[] {
  return classRows(cluster, (id) => {
    const state = tiles[id]?.state;
    return state === "asleep" || state === "foreign" ? undefined : state;
  });
}

export function storyIn(
  input: Pick<ClusterInput, "answer" | "explained">,
  group: string,
  nowMs: number,
): ReturnType<typeof storyOf> {
  return storyOf(placesOf(input), group, nowMs);
}

function placesOf({ explained, answer }: Pick<ClusterInput, "answer" | "explained">): StoryInput {
  const { cluster, pods, pvcs, events, nodes } = explained;
  return {
    ...{ cluster, pods, pvcs, events, nodes },
    ...(answer.kind === "answered" ? { status: answer.status } : { silent: answer.why }),
  };
}
