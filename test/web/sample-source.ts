// A source of page models for which no cluster is needed: one that never changes but for figures and a tile now and then.
import { WebProblem } from "../../src/web/server/source.ts";
import type { Look, Source } from "../../src/web/server/source.ts";
import type { ClusterModel, PageModel, PreviewAnswer, Tile } from "../../src/web/view-model.ts";
import { samplePage, samplePageWithCluster, sampleStory } from "./sample-model.ts";
import type { SampleOptions } from "./sample-model.ts";

export interface SampleSource extends Source {
  /** One look at the database later. */
  step(): void;
}

export function sampleSource(
  options: Omit<SampleOptions, "nowMs">,
  nowMs: () => number,
  previewAnswer: PreviewAnswer,
): SampleSource {
  const startedMs = nowMs();
  let whole = samplePageWithCluster({ ...options, nowMs: startedMs });
  const listeners = new Set<() => void>();
  const plain = samplePage({ ...options, nowMs: startedMs });
  const clusterOf = (): ClusterModel => whole.cluster as ClusterModel;
  let steps = 0;
  return {
    nowMs,
    look(cluster, onNews): Look {
      listeners.add(onNews);
      const isKnown = cluster?.namespace === "default" && cluster.name === "sample";
      return {
        ready: Promise.resolve(),
        model: (): PageModel => {
          if (cluster === undefined) return plain;
          if (isKnown) return whole;
          const why = "there is no such cluster, or you may not see it";
          return { ...plain, cluster: { isMissing: true, ...cluster, why } };
        },
        end: () => void listeners.delete(onNews),
      };
    },
    story(_cluster, group) {
      const tile = clusterOf().map.tiles[group];
      return tile === undefined ? undefined : sampleStory(nowMs(), tile, "node-1");
    },
    manifest: () =>
      Promise.resolve(
        "apiVersion: apps.foundationdb.org/v1beta2\nkind: FoundationDBCluster\nmetadata:\n  name: sample\n  namespace: default\nspec:\n  version: 7.3.63\n",
      ),
    preview(request) {
      if (request.change.type === "yaml" && !request.change.yaml.includes("kind:")) {
        throw new WebProblem(422, "there is no FoundationDBCluster default/sample in this text");
      }
      return Promise.resolve(previewAnswer);
    },
    step() {
      steps += 1;
      whole = { ...whole, cluster: stepped(clusterOf(), startedMs + steps * 5_000, steps) };
      for (const listener of listeners) listener();
    },
  };
}

const statesInTurn = ["starting", "failing", "well"] as const;

function stepped(cluster: ClusterModel, atMs: number, steps: number): ClusterModel {
  const { figures, map } = cluster;
  const ids = Object.keys(map.tiles);
  const id = ids[(steps * 7) % ids.length] ?? "";
  const tile = map.tiles[id] as Tile;
  const state = statesInTurn[steps % 3] ?? "well";
  const troubles = { starting: ["PodPending"], failing: ["MissingProcesses"], well: [] }[state];
  return {
    ...cluster,
    map: { ...map, tiles: { ...map.tiles, [id]: { ...tile, state, troubles } } },
    figures: {
      ...figures,
      timesMs: [...figures.timesMs.slice(1), atMs],
      series: Object.fromEntries(
        Object.entries(figures.series).map(([name, values]) => [
          name,
          [...values.slice(1), (values.at(-1) ?? 1) * (1 + Math.sin(steps) / 20)],
        ]),
      ),
    },
  };
}
