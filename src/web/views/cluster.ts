// One cluster in full, put together from what the other views make of it. Rules: spec/web.md [WEB1].
import type { ExplainInput } from "../../plugin/explain/page.ts";
import type { DatabaseAnswer } from "../../plugin/database/ask-database.ts";
import type { ClusterModel, FiguresModel, TimeLineModel } from "../view-model.ts";
import { backupsModel } from "./backups.ts";
import type { BackupsInput } from "./backups.ts";
import { withBackups } from "./card.ts";
import { clusterCommands } from "./commands.ts";
import { mapModel } from "./map.ts";
import { nowModel } from "./now.ts";
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
  const { explained, backups, timeLine, figures } = input;
  const { cluster } = explained;
  const backedUp = backupsModel(backups, nowMs);
  const now = nowModel(explained, nowMs);
  return {
    isMissing: false,
    namespace: cluster.metadata.namespace ?? "",
    name: cluster.metadata.name ?? "",
    now: { ...now, urgency: withBackups(now.ownUrgency, backedUp) },
    map: mapModel(placesOf(input)),
    ...{ timeLine, figures },
    backups: backedUp,
    commands: clusterCommands(cluster),
  };
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
