// Pictures of one member of a database that several Kubernetes clusters run: what is in the copy, and what the preview says
// that it cannot know. Rule: spec/preview.md [PV16].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { problemText } from "../../src/preview/picture.ts";
import { preview } from "../../src/preview/preview.ts";
import type { PreviewReport } from "../../src/preview/report.ts";
import { wake } from "../../src/preview/wake.ts";
import { MultiTestWorld } from "../world/multi-harness.ts";
import { createRegions, threeClusters } from "../world/multi-regions.ts";
import { hourMs } from "../world/world-harness.ts";
import { pictureOf } from "./world-picture.ts";

test("[PV16] a member is previewed with the processes of the others, and says that their operators are missing (long)", async () => {
  await MultiTestWorld.run({ names: threeClusters.names, nodes: 6 }, async (multi) => {
    // So that a preview knows soon that nothing more comes.
    const replacements = { failureDetectionTimeSeconds: 300, taintReplacementTimeSeconds: 300 };
    await createRegions(multi, threeClusters, { automationOptions: { replacements } });
    const picture = await pictureOf(multi.at("main"), { name: "main" });
    const { spec } = picture.cluster;
    const ask = async (change: object): Promise<PreviewReport> => {
      const result = await preview({
        ...{ picture, change: { type: "apply", spec: { ...spec, ...change } }, seeds: 1 },
        ...{ changeText: "a test", limitMs: 12 * hourMs, bytesPerSecond: 1e6 },
      });
      assert.ok("report" in result, JSON.stringify(result));
      return result.report;
    };
    const grown = await ask({ processCounts: { ...spec.processCounts, stateless: 4 } });
    assert.equal(grown.outcome, "done");
    assert.deepEqual(grown.pending, []);
    assert.deepEqual(grown.processGroups.added, { stateless: { least: 1, most: 1 } });
    assert.match(
      grown.differences.join("\n"),
      /14 processes of the database run in other Kubernetes clusters: .* operators .* are not/,
    );
    const upgrade = await ask({ version: "7.4.6" });
    assert.equal(upgrade.outcome, "blocked");
    assert.match(
      upgrade.waits.map(({ message, remedy }) => `${message} ${remedy}`).join("\n"),
      /other instances are not ready: remote-log-.* Set the new version in all resources/,
    );
    const status = picture.databaseStatus as DatabaseStatus;
    const processes = Object.fromEntries(
      Object.entries(status.cluster?.processes ?? {}).map(([id, process]) => {
        const { dns_name: _name, ...locality } = process.locality ?? {};
        return [id, { ...process, locality }];
      }),
    );
    const nameless = { ...status, cluster: { ...status.cluster, processes } };
    const waking = await wake({ ...picture, databaseStatus: nameless }, { seed: 3 });
    assert.ok("problems" in waking);
    const [problem] = waking.problems.map(problemText);
    assert.match(
      problem ?? "",
      /connection_string is remote-log-\d+\.remote\..*reports its dns_name/,
    );
  });
});
