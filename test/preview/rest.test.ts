// A copy of a resting cluster rests: the real operator looks at it and writes nothing. It is the proof that the copy is
// faithful. Rules: spec/preview.md [PV2], [PV3].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { Node, Pod } from "../../src/kube/generated/types.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import type { Picture } from "../../src/preview/picture.ts";
import { problemText } from "../../src/preview/picture.ts";
import { pageOf } from "../../src/preview/page.ts";
import { preview } from "../../src/preview/preview.ts";
import type { PreviewReport } from "../../src/preview/report.ts";
import { resourceOfObject } from "../../src/preview/stage.ts";
import { stopCopy, wake } from "../../src/preview/wake.ts";
import { runPending } from "../../src/preview/run.ts";
import type { Run } from "../../src/preview/run.ts";
import { threeHalls } from "../world/hall-harness.ts";
import {
  hourMs,
  minuteMs,
  securedProcesses,
  small,
  TestWorld,
  tiny,
} from "../world/world-harness.ts";
import type { TestWorldOptions } from "../world/world-harness.ts";
import { abandonedCluster, name as goCluster } from "../world/go-cluster.ts";
import { pictureOf } from "./world-picture.ts";

async function run(picture: Picture): Promise<Run> {
  const result = await runPending(picture, { seed: 7, limitMs: hourMs });
  assert.ok("run" in result, "problems" in result ? result.problems.map(problemText).join() : "");
  return result.run;
}

const shapes: [string, Partial<ClusterSpec>, TestWorldOptions?][] = [
  ["single", tiny],
  ["double", small],
  ["triple", { ...small, databaseConfiguration: { redundancy_mode: "triple" } }],
  ["split image", { ...small, imageType: "split" }],
  ["addresses", { ...small, routing: { useDNSInClusterFile: false } }],
  ["services", { ...small, routing: { publicIPSource: "service", useDNSInClusterFile: false } }],
  [
    "TLS",
    { ...small, mainContainer: { enableTls: true }, processes: securedProcesses },
    { hasCertificates: true },
  ],
  ["two storage servers in a pod", { ...small, storageServersPerPod: 2 }],
  ["three_data_hall", threeHalls, { nodes: 9 }],
  [
    "packed",
    {
      ...small,
      processCounts: { storage: 6, log: 4, stateless: 3 },
      distributionConfig: { enabled: true },
    },
    { nodes: 9 },
  ],
  [
    "40 processes",
    { ...small, processCounts: { storage: 20, log: 8, stateless: 12 } },
    { nodes: 20 },
  ],
];

for (const [title, spec, options] of shapes) {
  test(`[PV3] a copy of a resting cluster rests without a write (${title})`, async () => {
    await TestWorld.runWithCluster({ ...options, spec }, async (world) => {
      await world.clock.advance(3 * minuteMs);
      const picture = await pictureOf(world);
      const { record: pending, notes } = await run(picture);
      assert.deepEqual(pending.writes, []);
      assert.deepEqual(pending.acts, []);
      assert.equal(pending.statusWrites, 0);
      assert.equal(pending.end, "rested");
      assert.deepEqual(pending.recoveries, []);
      assert.equal(pending.copiedBytes, 0);
      assert.deepEqual(notes, []);
    });
  });
}

test("[PV3] a copy of a cluster of the Go operator needs nothing but what its status lacks, and rests when it is there", async () => {
  const world = await abandonedCluster();
  const picture = await pictureOf(world, goCluster);
  const { record: pending } = await run(picture);
  assert.deepEqual(pending.writes, []);
  assert.deepEqual(pending.acts, []);
  assert.equal(pending.end, "rested");
  assert.deepEqual(pending.recoveries, []);
  // The Go operator has no conditions, and keeps neither the configuration of the database nor which volume is whose.
  assert.deepEqual(pending.statusUpdate?.fields, [
    ...["conditions", "databaseConfigurationHash", "hasIncorrectConfigMap"],
    ...["hasIncorrectServiceConfig", "needsNewCoordinators", "processGroups"],
  ]);
  const { report } = (await preview({
    ...{ picture, change: { type: "apply", spec: picture.cluster.spec }, changeText: "no change" },
    ...{ seeds: 1, limitMs: hourMs, bytesPerSecond: 1e6 },
  })) as { report: PreviewReport };
  assert.deepEqual(
    report.pending.map(({ what }) => what.replace(/ \(.*\)/, "")),
    ["take the cluster over: its status is written, and nothing else"],
  );
  assert.equal(report.outcome, "nothing");
  assert.doesNotMatch(pageOf(report), /rests without a write/);
  assert.match(
    pageOf(report),
    /take the cluster over: its status is written \(conditions, .*\), and/,
  );
  world.world.startOperator();
  await world.clock.advance(3 * minuteMs);
  const { record: later } = await run(await pictureOf(world, goCluster));
  assert.deepEqual([later.writes, later.acts, later.statusWrites], [[], [], 0]);
  assert.equal(later.end, "rested");
  await world.close();
});

test("[PV2] [KUBELET95] [KAS95] a copy has the objects as they were: uids, versions, owners, times and states", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const picture = await pictureOf(world);
    const waking = await wake(picture, { seed: 3 });
    assert.ok("copy" in waking);
    const { clock, world: copy } = waking.copy;
    const { store } = copy.server.context;
    for (const object of [picture.cluster, ...picture.objects] as KubeObject[]) {
      const { group, plural } = resourceOfObject(object) ?? { group: "", plural: "" };
      const { namespace = "", name = "" } = object.metadata;
      const found = store.get(`${group}/${plural}`, namespace, name);
      assert.deepEqual(found, object, `${object.kind} ${name}`);
    }
    await stopCopy(clock, copy);
  });
});

test("[PV2] what other pods ask for is taken off what a node has to give", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const picture = await pictureOf(world);
    const otherRequests = [{ node: "node-1", cpu: "15500m", memory: "1Gi", pods: 100 }];
    const waking = await wake({ ...picture, otherRequests }, { seed: 3 });
    assert.ok("copy" in waking);
    const { clock, world: copy } = waking.copy;
    const { store } = copy.server.context;
    const node = store.get("/nodes", "", "node-1") as { status?: Node["status"] } | undefined;
    assert.deepEqual(node?.status?.allocatable, {
      ...{ cpu: "500000000n", memory: `${63 * 2 ** 30}000000000n`, pods: "10000000000n" },
      "ephemeral-storage": "100Gi",
    });
    await stopCopy(clock, copy);
  });
});

test("[PV2] a picture that cannot be woken says why", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const picture = await pictureOf(world);
    const problemsOf = async (changed: Partial<Picture>): Promise<string[]> => {
      const waking = await wake({ ...picture, ...changed }, { seed: 3 });
      return "problems" in waking ? waking.problems.map(problemText) : [];
    };
    assert.deepEqual(await problemsOf({ databaseStatus: undefined }), [
      "databaseStatus is missing: give the output of `status json` of the database, taken while it is available",
    ]);
    const { cluster } = picture.databaseStatus as DatabaseStatus;
    const unavailable = { cluster: { ...cluster, database_available: false } };
    assert.deepEqual(await problemsOf({ databaseStatus: unavailable }), [
      "databaseStatus.cluster.database_available is false: take the status while the database is available",
    ]);
    const pods = picture.objects.filter(({ kind }) => kind === "Pod") as Stored<Pod>[];
    const [lost, ...others] = pods;
    const left = picture.objects.filter((object) => object !== lost);
    const address = lost?.status?.podIP ?? "";
    const [problem = ""] = await problemsOf({ objects: left });
    assert.equal(others.length, pods.length - 1);
    assert.ok(problem.includes(`${address}:4501`), problem);
  });
});
