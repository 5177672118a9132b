// A whole preview: the copy, several runs, and what they come to. Rules: spec/preview.md [PV4]-[PV7].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../src/api/cluster.ts";
import { preview } from "../../src/preview/preview.ts";
import type { Picture } from "../../src/preview/picture.ts";
import type { PreviewReport } from "../../src/preview/report.ts";
import type { Change } from "../../src/preview/change.ts";
import { hourMs, small, TestWorld } from "../world/world-harness.ts";
import { pictureOf } from "./world-picture.ts";

async function reportOf(picture: Picture, change: Change, seeds = 1): Promise<PreviewReport> {
  const result = await preview({
    ...{ picture, change, changeText: "a test", seeds, limitMs: hourMs, bytesPerSecond: 1e6 },
  });
  assert.ok("report" in result, JSON.stringify(result));
  return result.report;
}

test("[PV4] [PV5] [PV7] a growth is previewed with its pods, volumes and data, and the world is left alone", async () => {
  await TestWorld.runWithCluster({ spec: small, nodes: 9 }, async (world) => {
    const picture = await pictureOf(world);
    const before = JSON.stringify(picture);
    const written = world.requests.length;
    const spec: ClusterSpec = {
      ...picture.cluster.spec,
      processCounts: { storage: 5, log: 3, stateless: 3 },
    };
    const report = await reportOf(picture, { type: "apply", spec }, 2);
    assert.equal(report.outcome, "done");
    assert.deepEqual(report.seeds, [1, 2]);
    assert.deepEqual(report.pending, []);
    assert.deepEqual(report.processGroups, {
      added: { storage: { least: 2, most: 2 } },
      removed: {},
    });
    assert.deepEqual(report.recoveries, { least: 0, most: 0 });
    assert.equal(report.extra.pods, 2);
    assert.equal(report.extra.volumeBytes, 2 * 128_000_000_000);
    assert.ok(report.bytesMoved.most > 0);
    assert.equal(report.movementSeconds.most, Math.ceil(report.bytesMoved.most / 1e6));
    assert.deepEqual(report.withoutNode, {});
    assert.equal(JSON.stringify(picture), before);
    assert.equal(world.requests.length, written);
  });
});

test("[PV4] a run that the limit of computing cuts off does not make those before it unfinished (long)", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const picture = await pictureOf(world);
    const customParameters = ["knob_max_trace_lines=1000"];
    const spec = { ...picture.cluster.spec, processes: { log: { customParameters } } };
    let asked = 0;
    let limit = Infinity;
    const seen = async (seeds: number): Promise<PreviewReport> => {
      asked = 0;
      const result = await preview({
        ...{ picture, change: { type: "apply", spec }, changeText: "a test", seeds },
        ...{ limitMs: hourMs, bytesPerSecond: 1e6, isOutOfCpu: () => (asked += 1) > limit },
      });
      assert.ok("report" in result, JSON.stringify(result));
      return result.report;
    };
    const once = await seen(1);
    assert.deepEqual([once.outcome, once.seeds], ["done", [1]]);
    // In the middle of the second run.
    limit = asked + 20;
    const cut = await seen(2);
    assert.ok(asked > limit);
    assert.deepEqual([cut.outcome, cut.seeds], ["done", [1]]);
    limit = 5;
    assert.equal((await seen(2)).outcome, "unfinished");
  });
});

test("[PV6] what the API server refuses is told in its words; so is a node that is not there", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const picture = await pictureOf(world);
    const { spec } = picture.cluster;
    const wrong = { ...spec, databaseConfiguration: { redundancy_mode: "quintuple" } };
    const refused = await reportOf(picture, { type: "apply", spec: wrong as ClusterSpec });
    assert.equal(refused.outcome, "refused");
    assert.match(refused.refusal ?? "", /redundancy_mode/);
    const gone = await reportOf(picture, { type: "loseNode", node: "node-99" });
    assert.match(gone.refusal ?? "", /there is no running node node-99: it is one of node-1/);
    const nowhere = await reportOf(picture, { type: "loseZone", zone: "zone-9" });
    assert.match(nowhere.refusal ?? "", /the zones are zone-1, zone-2, zone-3/);
  });
});

test("[PV13] applied by the server, what its manager has no more goes, and what is others' is a conflict", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const key = { namespace: "default", name: "sample" };
    const { apiVersion, kind } = await world.cluster();
    const metadata = { name: "sample" };
    const bodyOf = (spec: object) => ({ apiVersion, kind, metadata, spec }) as FoundationDBCluster;
    const apply = (spec: object, fieldManager: string) =>
      world.client.patch(foundationDbClusters, key, bodyOf(spec), {
        ...{ type: "apply", fieldManager, force: true },
      });
    await apply({ processCounts: { stateless: 2 }, labels: {} }, "flux");
    await apply({ processCounts: { log: 1 } }, "other");
    await world.untilReconciled();
    await world.clock.advance(60_000);
    const picture = await pictureOf(world);
    const changeOf = (spec: object, forceConflicts = false): Change => ({
      ...{ type: "applyServerSide", object: bodyOf(spec), fieldManager: "flux", forceConflicts },
    });
    const gone = await reportOf(picture, changeOf({}));
    // The world has seed 1, and so has this run: its new processes must not be those of the world.
    assert.equal(gone.outcome, "done");
    assert.deepEqual(gone.processGroups.added["stateless"], { least: 6, most: 6 });
    const refused = await reportOf(picture, changeOf({ processCounts: { log: 2 } }));
    assert.equal(refused.outcome, "refused");
    assert.match(refused.refusal ?? "", /conflict/i);
    const forced = await reportOf(picture, changeOf({ processCounts: { log: 2 } }, true));
    assert.deepEqual(forced.processGroups.added["log"], { least: 1, most: 1 });
  });
});

test("[PV4] [PV8] pods without room are blocked, with what the scheduler says and what to do (long)", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const picture = await pictureOf(world);
    const { spec } = picture.cluster;
    const otherRequests = Array.from({ length: 6 }, (_, index) => ({
      ...{ node: `node-${index + 1}`, cpu: "16", memory: "1Gi", pods: 1 },
    }));
    const quick = { replacements: { failureDetectionTimeSeconds: 60, enabled: false } };
    const report = await reportOf(
      { ...picture, otherRequests },
      {
        type: "apply",
        spec: {
          ...spec,
          automationOptions: { ...spec.automationOptions, ...quick },
          processCounts: { storage: 4, log: 3, stateless: 3 },
        },
      },
    );
    assert.notEqual(report.outcome, "done");
    assert.ok(Object.keys(report.withoutNode).length > 0);
    assert.ok(report.waits.length > 0);
    assert.ok(report.waits.every(({ remedy }) => remedy !== ""));
  });
});

test("[WIN15] a preview goes on to the next maintenance window, and says when it opens (long)", async () => {
  const maintenanceWindows = [{ cron: "0 * * * *", duration: "10m" }];
  const spec = { ...small, automationOptions: { maintenanceWindows } };
  await TestWorld.runWithCluster({ spec, nodes: 9 }, async (world) => {
    const nowMs = world.clock.nowMs();
    await world.clock.advance(hourMs - (nowMs % hourMs) + 25 * 60_000);
    const picture = await pictureOf(world);
    const general = {
      ...picture.cluster.spec.processes?.["general"],
      customParameters: ["knob_max_trace_lines=5"],
    };
    const changed = { ...picture.cluster.spec, processes: { general } };
    const report = await reportOf(picture, { type: "apply", spec: changed });
    assert.equal(report.outcome, "done");
    assert.ok(report.recoveries.least > 0);
    assert.match(report.warnings.join(), /what needs one waits: the next one opens at \S+:00:00Z/);
  });
});
