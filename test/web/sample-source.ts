// A source of page models on a simulated world whose time stands still until it is told to go on.
import { join } from "node:path";
import { previewInProcess } from "../../src/web/server/preview-process.ts";
import type { PluginProgram } from "../../src/web/server/preview-process.ts";
import type { LiveOptions } from "../../src/web/server/live-source.ts";
import type { Source } from "../../src/web/server/source.ts";
import type { PreviewAnswer } from "../../src/web/view-model.ts";
import { pictureOf } from "../preview/world-picture.ts";
import type { TestWorld } from "../world/world-harness.ts";
import { sampleWorld } from "./sample-world.ts";

export interface SampleSource extends Source {
  readonly world: TestWorld;
  readonly lostNode: string | undefined;
  /** Time passes. */
  advance(ms: number): Promise<void>;
}

const plugin: PluginProgram = [
  process.execPath,
  join(import.meta.dirname, "../../src/cli/kubectl-fdb.ts"),
];

/** See `sampleWorld`. Previews are those of the plugin, in processes of their own, unless others are given. */
export async function sampleSource(
  groups: number,
  moreClusters = 0,
  preview?: NonNullable<LiveOptions["preview"]>,
): Promise<SampleSource> {
  const answers = new Map<string, Promise<PreviewAnswer>>();
  const found = await sampleWorld(
    groups,
    moreClusters,
    preview ??
      ((_cluster, request, signal) => {
        // The same question has the same answer while time stands still.
        const key = JSON.stringify(request);
        const answer =
          answers.get(key) ??
          pictureOf(found.world).then((picture) =>
            previewInProcess(plugin, { picture }, request, signal),
          );
        answers.set(key, answer);
        // One that was given up is no answer.
        answer.catch(() => answers.delete(key));
        return answer;
      }),
  );
  const { world, source, lostNode } = found;
  return {
    ...{ world, lostNode },
    nowMs: () => source.nowMs(),
    look: (cluster, onNews) => source.look(cluster, onNews),
    story: (cluster, group) => source.story(cluster, group),
    manifest: (cluster) => source.manifest(cluster),
    preview: (request, signal) => source.preview(request, signal),
    async advance(ms) {
      answers.clear();
      await world.clock.advance(ms);
    },
  };
}
