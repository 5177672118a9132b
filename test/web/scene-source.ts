// A source for tests of the web server, made of the objects of a small scene: one cluster, whose figures change when told to.
import type { Source } from "../../src/web/server/source.ts";
import type { ClusterInput } from "../../src/web/views/cluster.ts";
import { clusterModel, storyIn } from "../../src/web/views/cluster.ts";
import { clusterCard } from "../../src/web/views/card.ts";
import { noFigures, withLook } from "../../src/web/views/figure-history.ts";
import { TimeLine } from "../../src/web/views/time-line.ts";
import type { DatabaseAnswer } from "../../src/plugin/database/ask-database.ts";
import type { PageModel } from "../../src/web/view-model.ts";
import { group, nowMs, sceneCluster, scenePod, sceneStatus } from "./cluster-scene.ts";
import { samplePreview } from "./sample-preview.ts";

export interface SceneSource extends Source {
  /** The database is asked once more, and has done other things. */
  step(): void;
}

const ids = ["log-1", "log-2", "storage-1", "storage-2"];

export function sceneSource(): SceneSource {
  const listeners = new Set<() => void>();
  const cluster = sceneCluster(ids.map((id) => group(id)));
  const pods = ids.map((id) => scenePod(id, "node-1"));
  let steps = 0;
  let figures = noFigures;
  let input: ClusterInput;
  let whole: PageModel;
  const look = (): void => {
    const roles = (id: string): string[] => [id.replace(/-\d+$/, "")];
    const processes = Object.fromEntries(ids.map((id) => [id, { roles: roles(id) }]));
    const load = { workload: { transactions: { committed: { hz: steps } } } };
    const status = sceneStatus(processes, load);
    const answer: DatabaseAnswer = { kind: "answered", pod: "", status };
    figures = withLook(figures, answer, nowMs + steps * 5_000);
    input = {
      explained: { cluster, pods, pvcs: [], nodes: [], events: [], unread: [] },
      ...{ answer, figures, timeLine: new TimeLine(nowMs).model },
      backups: { backups: [], restores: [], events: [], podsOf: () => [] },
    };
    whole = {
      session: {
        ...{ source: "live", where: "https://emulated", namespace: "", speed: 1 },
        ...{ version: "0.1.0", missing: [] },
      },
      clusters: { "default/sample": clusterCard(cluster, [], nowMs) },
      cluster: clusterModel(input, nowMs),
    };
  };
  look();
  return {
    nowMs: () => nowMs,
    look(ref, onNews) {
      listeners.add(onNews);
      const model = (): PageModel => {
        const { cluster: found, ...plain } = whole;
        if (ref === undefined || found === undefined) return plain;
        if (ref.namespace === "default" && ref.name === "sample") return whole;
        return { ...plain, cluster: { isMissing: true, ...ref, why: "there is no such cluster" } };
      };
      return { ready: Promise.resolve(), model, end: () => void listeners.delete(onNews) };
    },
    story: (_ref, id) => storyIn(input, id, nowMs),
    manifest: () => Promise.resolve("apiVersion: apps.foundationdb.org/v1beta2\n"),
    preview: () => Promise.resolve(samplePreview),
    step() {
      steps += 1;
      look();
      for (const listener of listeners) listener();
    },
  };
}
