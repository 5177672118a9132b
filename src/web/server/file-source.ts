// A support bundle or a saved picture: one cluster as it was at one moment. Nothing changes, and no server is asked. A bundle has
// events, backups and restores besides.
// Rules: spec/web.md [WEB31].
import { version } from "../../env/program-version.ts";
import { readableStatus } from "../../fdb/readable-status.ts";
import type { KubeObject } from "../../kube/object.ts";
import { parseTime } from "../../kube/time.ts";
import type { DatabaseAnswer } from "../../plugin/database/ask-database.ts";
import type { LeftOut, Picture } from "../../preview/picture.ts";
import type { BundleContents } from "../../report/load-bundle.ts";
import { agentsOf, ofCluster } from "../views/backups.ts";
import type { BackupsInput } from "../views/backups.ts";
import { clusterCard } from "../views/card.ts";
import { clusterModel, storyIn } from "../views/cluster.ts";
import type { ClusterInput } from "../views/cluster.ts";
import { noFigures, withLook } from "../views/figure-history.ts";
import { eventsAbout, TimeLine } from "../views/time-line.ts";
import type { PageModel, PreviewAnswer, PreviewRequest, TimeLineModel } from "../view-model.ts";
import { manifestOf } from "./manifest.ts";
import { WebProblem } from "./source.ts";
import type { ClusterRef, Source } from "./source.ts";

type Explained = ClusterInput["explained"];

export interface FileOptions {
  /** Its name, for people. */
  readonly where: string;
  readonly picture: Picture;
  /** Of a support bundle; undefined for a picture alone. */
  readonly contents: BundleContents | undefined;
  readonly preview: (request: PreviewRequest, signal: AbortSignal) => Promise<PreviewAnswer>;
}

export function fileSource({ where, picture, contents, preview }: FileOptions): Source {
  const takenAtMs = parseTime(picture.takenAt) ?? 0;
  const cluster = picture.cluster as Explained["cluster"];
  const { namespace = "", name = "" } = cluster.metadata;
  const input = inputOf(picture, contents, takenAtMs);
  const whole: PageModel = {
    session: {
      ...{ source: "file", where, namespace, takenAtMs, speed: 0, version },
      missing: gapsOf(picture, contents).map(gapText),
    },
    clusters: { [`${namespace}/${name}`]: clusterCard(cluster, input.backups.backups, takenAtMs) },
  };
  const withCluster = { ...whole, cluster: clusterModel(input, takenAtMs) };
  const isIt = (ref: ClusterRef): boolean => ref.namespace === namespace && ref.name === name;
  return {
    nowMs: () => takenAtMs,
    look(ref) {
      const missing = { isMissing: true, why: `${where} is of ${namespace}/${name}` } as const;
      const model =
        ref === undefined
          ? whole
          : isIt(ref)
            ? withCluster
            : { ...whole, cluster: { ...missing, ...ref } };
      return { ready: Promise.resolve(), model: () => model, end: () => {} };
    },
    story: (ref, group) => (isIt(ref) ? storyIn(input, group, takenAtMs) : undefined),
    manifest: async (ref) => (isIt(ref) ? manifestOf(cluster) : undefined),
    async preview(request, signal) {
      if (isIt({ namespace: request.namespace, name: request.cluster }))
        return preview(request, signal);
      throw new WebProblem(404, `${where} is of ${namespace}/${name}`);
    },
  };
}

function inputOf(
  picture: Picture,
  contents: BundleContents | undefined,
  takenAtMs: number,
): ClusterInput {
  const { objects, databaseStatus, left } = picture;
  const cluster = picture.cluster as Explained["cluster"];
  const of = (kind: string, what: string): KubeObject[] | undefined =>
    left.some((one) => one.what === what)
      ? undefined
      : objects.filter((object) => object.kind === kind);
  const answer: DatabaseAnswer =
    databaseStatus === undefined || databaseStatus === null
      ? {
          kind: "silent",
          why: left.find(({ what }) => what.startsWith("status"))?.why ?? "it was not asked",
        }
      : { kind: "answered", status: readableStatus(databaseStatus), pod: "" };
  const explained: Explained = {
    cluster,
    pods: of("Pod", "pods"),
    pvcs: of("PersistentVolumeClaim", "volume claims"),
    nodes: of("Node", "nodes"),
    events: contents?.events,
    unread: gapsOf(picture, contents).map(gapText),
  };
  return {
    ...{ explained, answer },
    backups: backupsOf(cluster, contents),
    timeLine: timeLineOf(explained, answer, takenAtMs),
    figures: withLook(noFigures, answer, takenAtMs),
  };
}

function timeLineOf(
  { cluster, pods = [], pvcs = [], events = [] }: Explained,
  answer: DatabaseAnswer,
  takenAtMs: number,
): TimeLineModel {
  const timeLine = new TimeLine(takenAtMs);
  timeLine.noteCluster(cluster, takenAtMs);
  timeLine.noteEvents(eventsAbout([cluster, ...pods, ...pvcs], events));
  if (answer.kind === "answered") timeLine.noteDatabase(answer.status, takenAtMs);
  return timeLine.model;
}

function backupsOf(cluster: KubeObject, contents: BundleContents | undefined): BackupsInput {
  if (contents === undefined) {
    return {
      ...{ backups: undefined, restores: undefined, events: undefined, podsOf: () => undefined },
      problem: "a picture of a cluster holds no backups and no restores",
    };
  }
  const { events, agents, left } = contents;
  const problems = left.filter(({ what }) => what === "backups" || what === "restores");
  return {
    ...ofCluster(cluster, contents),
    ...{ events, podsOf: (object) => agentsOf(object, agents) },
    ...(problems.length === 0 ? {} : { problem: problems.map(gapText).join("; ") }),
  };
}

/** Of what a bundle leaves out, the page would show these. */
const shownKinds = /^(events|\d+ older events|backups|restores|backup agents)$/;

function gapsOf({ left }: Picture, contents: BundleContents | undefined): readonly LeftOut[] {
  return [...left, ...(contents?.left ?? []).filter(({ what }) => shownKinds.test(what))];
}

function gapText({ what, why }: LeftOut): string {
  return `${what}: ${why}`;
}
