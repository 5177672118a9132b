// A database of one region that has lost the majority of its coordinators for good, and everything that keeps the way back from
// being taken by accident. Rules: spec/plugin.md [PL77]-[PL79], [PL85], [PL86].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { KubeError } from "../../src/kube/error.ts";
import { nodes, persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { assertAllCopies } from "../world/removal-harness.ts";
import { minuteMs, TestWorld } from "../world/world-harness.ts";
import { runPlugin } from "./plugin-harness.ts";

const namespace = "default";
const args = ["recover-coordinators", "sample"];
const consents = ["--confirm", "sample", "--accept-loss"];

const spec: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "double" },
  processCounts: { storage: 3, log: 3, stateless: 3, coordinator: 3 },
  coordinatorSelection: [{ processClass: "coordinator", priority: 100 }],
};

/** Process groups of the class coordinator are all coordinators, and hold nothing else. The operator is away. */
async function withCoordinators(
  body: (world: TestWorld, names: readonly string[]) => Promise<void>,
  wanted = spec,
): Promise<void> {
  await TestWorld.runWithCluster({ nodes: 20, spec: wanted }, async (world) => {
    const text = (await world.cluster()).status?.connectionString ?? "";
    const names = coordinatorsOf(text).map((each) => each.split(".")[0] ?? "");
    assert.ok(
      names.every((name) => name.startsWith("sample-coordinator-")),
      text,
    );
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    await body(world, names);
  });
}

async function lose(world: TestWorld, name: string, keepsClaim = false): Promise<void> {
  await world.client.delete(pods, { namespace, name });
  if (!keepsClaim) {
    await world.client.delete(persistentVolumeClaims, { namespace, name: `${name}-data` });
  }
  const isGone = async (): Promise<boolean> =>
    (await world.client.find(pods, { namespace, name })) === undefined &&
    (keepsClaim ||
      (await world.client.find(persistentVolumeClaims, { namespace, name: `${name}-data` })) ===
        undefined);
  await world.until(isGone, `${name} is gone`);
}

async function refusal(world: TestWorld, text: RegExp, more: readonly string[] = consents) {
  const before = await world.cluster();
  const { code, notes, out } = await runPlugin(world, [...args, ...more]);
  assert.equal(code, 1, out + notes);
  assert.match(notes, text);
  assert.match(notes, /nothing was changed/);
  const { metadata, spec: after } = await world.cluster();
  assert.deepEqual(after, before.spec);
  assert.equal(metadata.generation, before.metadata.generation);
}

test("[PL77] [PL79] [PL85] [PL86] the majority of the coordinators is lost: the database comes back, and what may be lost is said", async () => {
  await withCoordinators(async (world, [first = "", second = "", left = ""]) => {
    await lose(world, first);
    await lose(world, second);
    await world.clock.advance(3 * minuteMs);
    const rehearsed = await runPlugin(world, [...args, "--dry-run"]);
    assert.equal(rehearsed.code, 0, rehearsed.notes);
    assert.match(rehearsed.notes, new RegExp(`the coordination state of ${left} is copied to`));
    assert.match(rehearsed.notes, /MAY BE LOST: every version since the last recovery/);
    assert.match(rehearsed.notes, /No backup of this cluster/);
    const blind = (transport: KubeTransport): KubeTransport => ({
      ...transport,
      request: (request) =>
        request.path.endsWith("/foundationdbbackups")
          ? Promise.reject(new KubeError(403, "Forbidden", "backups are forbidden"))
          : transport.request(request),
    });
    const unseen = await runPlugin(world, [...args, "--dry-run"], { through: blind });
    assert.equal(unseen.code, 0, unseen.notes);
    assert.match(unseen.notes, /can be restored is not known: backups are forbidden/);
    assert.notEqual((await world.cluster()).spec.skip, true);
    const answers = ["sample", "lose data"];
    const done = await runPlugin(world, args, { answers });
    assert.equal(done.code, 0, done.out + done.notes);
    assert.match(done.out, /default\/sample serves again, generation \d+/);
    assert.equal((await world.cluster()).spec.skip, false);
    world.world.startOperator();
    await world.untilReconciled(60 * minuteMs);
    assert.equal(world.world.fdb.truth.databases().length, 1, "the old database");
    await assertAllCopies(world);
    await refusal(world, /serves \(asked in .*there is nothing to recover/);
  });
});

test("[PL79] one consent, or a habit, is not enough", async () => {
  await withCoordinators(async (world, [first = "", second = ""]) => {
    await lose(world, first);
    await lose(world, second);
    await world.clock.advance(3 * minuteMs);
    await refusal(world, /has to be confirmed/, []);
    await refusal(world, /has to be confirmed/, ["--yes"]);
    await refusal(world, /give --accept-loss as well/, ["--confirm", "sample", "--yes"]);
    await refusal(world, /has to be confirmed/, ["--accept-loss", "--yes"]);
    await refusal(world, /--confirm names other/, ["--confirm", "other", "--accept-loss"]);
    const generation = (await world.cluster()).metadata.generation;
    for (const answers of [["y", "y"], ["sample", "y"], ["sample", "sample"], ["sample"]]) {
      const { code, notes } = await runPlugin(world, args, { answers });
      assert.equal(code, 1, answers.join());
      assert.match(notes, /nothing was changed/);
    }
    assert.equal((await world.cluster()).metadata.generation, generation);
  });
});

test("[PL78] coordinators that are merely out of reach are not taken for stopped", async () => {
  await withCoordinators(async (world, [first = "", second = ""]) => {
    await refusal(world, /there is nothing to recover/);
    for (const name of [first, second]) {
      const pod = await world.client.get(pods, { namespace, name });
      for (const { ip = "" } of pod.status?.podIPs ?? []) world.world.fdb.faults.cutAddress(ip);
    }
    await world.clock.advance(3 * minuteMs);
    await refusal(world, /which is a majority: find out why they do not answer/);
  });
});

test("[PL78] neither is one whose node is silent, whose pod is only being deleted, or whose volume is there", async () => {
  await withCoordinators(async (world, [first = "", second = ""]) => {
    const pod = await world.client.get(pods, { namespace, name: first });
    const node = pod.spec?.nodeName ?? "";
    await lose(world, second, true);
    await world.during(world.world.kubelet.stopNode(node), minuteMs, "a node falls silent");
    await world.clock.advance(3 * minuteMs);
    await world.client.delete(pods, { namespace, name: first });
    await world.clock.advance(minuteMs);
    await refusal(
      world,
      /its pod sample-coordinator-\d+ is being deleted, on node|its volume claim/,
    );
    // By force the pod vanishes from Kubernetes; nobody has heard of its end.
    await world.client.delete(pods, { namespace, name: first }, { gracePeriodSeconds: 0 });
    for (const name of [first, second]) {
      await world.client.delete(persistentVolumeClaims, { namespace, name: `${name}-data` });
    }
    await world.clock.advance(minuteMs);
    await refusal(world, new RegExp(`node ${node} does not report`));
    const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }];
    await world.client.patch(nodes, { name: node }, { spec: { taints } }, { type: "merge" });
    await world.clock.advance(minuteMs);
    const rehearsed = await runPlugin(world, [...args, "--dry-run"]);
    assert.equal(rehearsed.code, 0, rehearsed.notes);
  });
});

test("[PL77] without a coordinator that is left there is nothing to go on with", async () => {
  await withCoordinators(async (world, names) => {
    for (const name of names) await lose(world, name);
    await world.clock.advance(3 * minuteMs);
    await refusal(world, /no coordinator of the database is left with its state: restore a backup/);
  });
});

test("[PL86] somebody who comes back while the question is open stops it, and the operator goes on", async () => {
  await withCoordinators(async (world, [first = "", second = ""]) => {
    const {
      apiVersion,
      kind,
      metadata,
      spec: before,
    } = await world.client.get(pods, {
      namespace,
      name: first,
    });
    await lose(world, first);
    await lose(world, second);
    await world.clock.advance(3 * minuteMs);
    const { name, labels } = metadata;
    const back = {
      apiVersion,
      kind,
      metadata: { name, namespace, labels },
      spec: before ?? { containers: [] },
    };
    let isBack = false;
    const through = (transport: KubeTransport): KubeTransport => ({
      ...transport,
      request: async (request) => {
        const isWrite = request.method !== "GET" && request.path.endsWith("clusters/sample");
        if (isWrite && !isBack) {
          isBack = true;
          await world.client.create(pods, back);
        }
        return transport.request(request);
      },
    });
    const { code, out, notes } = await runPlugin(world, [...args, ...consents], { through });
    assert.equal(code, 1, out);
    assert.match(notes, /its pod sample-coordinator-\d+ is there/);
    assert.doesNotMatch(out, /has the coordination state/);
    assert.equal((await world.cluster()).spec.skip, false);
  });
});

const five: Partial<ClusterSpec> = {
  ...spec,
  databaseConfiguration: { redundancy_mode: "triple" },
  processCounts: { storage: 5, log: 4, stateless: 3, coordinator: 5 },
};

/** Something happens when the operator is held off: after the consents, before the second look. */
function afterConsents(happens: () => Promise<void>): (transport: KubeTransport) => KubeTransport {
  let isDone = false;
  return (transport) => ({
    ...transport,
    request: async (request) => {
      const isWrite = request.method !== "GET" && request.path.endsWith("clusters/sample");
      if (isWrite && !isDone) {
        isDone = true;
        await happens();
      }
      return transport.request(request);
    },
  });
}

test("[PL86] one of several who comes back, without making a majority, stops it too: it may know more", async () => {
  await withCoordinators(async (world, [first = "", second = "", third = "", returning = ""]) => {
    for (const name of [first, second, third]) await lose(world, name);
    await world.clock.advance(3 * minuteMs);
    let isAway = true;
    const come = afterConsents(() => {
      isAway = false;
      return Promise.resolve();
    });
    const through = (transport: KubeTransport): KubeTransport => {
      const next = come(transport);
      return {
        ...next,
        request: async (request) => {
          const answer = await next.request(request);
          const isList = /\/(pods|persistentvolumeclaims)$/.test(request.path);
          if (!isAway || !isList) return answer;
          const list = answer.body as { items: { metadata: { name: string } }[] };
          const items = list.items.filter(({ metadata }) => !metadata.name.startsWith(returning));
          return { ...answer, body: { ...list, items } };
        },
      };
    };
    const { code, out, notes } = await runPlugin(world, [...args, ...consents], { through });
    assert.equal(code, 1, out);
    assert.match(notes, new RegExp(`${returning} came back meanwhile and may know more than`));
    assert.doesNotMatch(out, /has the coordination state/);
    assert.equal((await world.cluster()).spec.skip, false);
    await refusal(world, /several coordinators are left/);
  }, five);
});

test("[PL86] a pod that was chosen and is gone after the consents stops it", async () => {
  await withCoordinators(async (world, [first = "", second = ""]) => {
    await lose(world, first);
    await lose(world, second);
    await world.clock.advance(3 * minuteMs);
    const { notes: steps } = await runPlugin(world, [...args, "--dry-run"]);
    const [, chosen = ""] = /is copied to ([^,\s]+)/.exec(steps) ?? [];
    const through = afterConsents(async () => {
      const options = { gracePeriodSeconds: 0 };
      await world.client.delete(pods, { namespace, name: chosen }, options);
    });
    const { code, out, notes } = await runPlugin(world, [...args, ...consents], { through });
    assert.equal(code, 1, out);
    assert.match(notes, /are not what they were when you agreed.*nothing was changed/);
    assert.doesNotMatch(out, /has the coordination state/);
    assert.equal((await world.cluster()).spec.skip, false);
  });
});

test("[PL77] what ends it half-way is told with how to go on, and that the operator is held off", async () => {
  await withCoordinators(async (world, [first = "", second = ""]) => {
    await lose(world, first);
    await lose(world, second);
    await world.clock.advance(3 * minuteMs);
    const streams = world.world.server.pods("person");
    const exec = {
      open: streams.open.bind(streams),
      followLog: streams.followLog.bind(streams),
      run: (request: Parameters<typeof streams.run>[0]) =>
        request.command[0] === "tee"
          ? Promise.reject(new KubeError(0, "Unreachable", "the connection ended"))
          : streams.run(request),
    };
    const { code, out, notes } = await runPlugin(world, [...args, ...consents], { exec });
    assert.equal(code, 1, out);
    assert.match(notes, /the connection ended; spec.skip of sample is still true: run the command/);
    assert.equal((await world.cluster()).spec.skip, true);
    const done = await runPlugin(world, [...args, ...consents]);
    assert.equal(done.code, 0, done.notes);
    assert.equal((await world.cluster()).spec.skip, false);
  });
});

test("[PL78] a resource beside it with the same database is seen, whatever the specs say", async () => {
  await withCoordinators(async (world, [first = "", second = ""]) => {
    await lose(world, first);
    await lose(world, second);
    await world.clock.advance(3 * minuteMs);
    const { apiVersion, kind, spec: own, status } = await world.cluster();
    const beside = await world.client.create(foundationDbClusters, {
      ...{ apiVersion, kind },
      metadata: { name: "beside", namespace },
      spec: { version: own.version, processGroupIDPrefix: "beside" },
    });
    const key = { namespace, name: beside.metadata.name ?? "" };
    const body = { status: { connectionString: status?.connectionString } };
    const options = { type: "merge", subresource: "status" } as const;
    await world.client.patch(foundationDbClusters, key, body, options);
    await refusal(world, /default\/beside has processes of the database of sample, too/);
  });
});
