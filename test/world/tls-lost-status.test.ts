// A status that is lost while TLS is being turned on or off: how processes have to listen, and who has certificates, is
// found again before a pod is made or told. Rules: spec/restart.md [T77], [T83].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { assertAllCopies, commandsOf } from "./removal-harness.ts";
import { minuteMs, securedProcesses, small, TestWorld } from "./world-harness.ts";

const quick: Partial<ClusterSpec> = { ...small, minimumUptimeSecondsForBounce: 30 };

async function loseStatus(world: TestWorld): Promise<void> {
  const { status: _, ...rest } = await world.cluster();
  await world.client.updateStatus(foundationDbClusters, { ...rest, status: {} });
}

async function assertListening(world: TestWorld, isTls: boolean): Promise<void> {
  const { status } = await world.cluster();
  assert.deepEqual(status?.requiredAddresses, isTls ? { tls: true } : { nonTLS: true });
  const coordinators = (status?.connectionString?.split("@")[1] ?? "").split(",");
  for (const address of coordinators) assert.equal(address.endsWith(":tls"), isTls);
  await assertAllCopies(world);
}

for (const to of [true, false]) {
  test(`[T83] TLS is turned ${to ? "on" : "off"} for a database that sleeps, and its status is lost as it wakes`, async () => {
    const spec = { ...quick, mainContainer: { enableTls: !to }, processes: securedProcesses };
    await TestWorld.runWithCluster({ spec, hasCertificates: true, nodes: 9 }, async (world) => {
      await world.changeSpec({ hibernate: true });
      const isAsleep = async (): Promise<boolean> =>
        conditionIn((await world.cluster()).status, "Hibernated")?.status === "True";
      await world.until(isAsleep, "the database sleeps", 10 * minuteMs);
      await world.world.stopOperator();
      await world.changeSpec({ hibernate: false, mainContainer: { enableTls: to } });
      await loseStatus(world);
      world.world.startOperator();
      await world.untilReconciled(30 * minuteMs);
      await assertListening(world, to);
    });
  });
}

test("[T77] a status that is lost does not bring TLS to pods without certificates (long)", async () => {
  await TestWorld.runWithCluster({ spec: quick, hasCertificates: true }, async (world) => {
    await world.world.stopOperator();
    await world.changeSpec({ mainContainer: { enableTls: true }, processes: securedProcesses });
    await loseStatus(world);
    world.world.startOperator();
    await world.untilReconciled(60 * minuteMs);
    await assertListening(world, true);
    assert.ok(commandsOf(world, "deletePods").length > 0, "pods first");
  });
});

test("[T77] a cluster that speaks TLS goes on with it when its status is lost and its pods lack a mount", async () => {
  const spec = { ...quick, mainContainer: { enableTls: true }, processes: securedProcesses };
  await TestWorld.runWithCluster({ spec, hasCertificates: true }, async (world) => {
    const template = structuredClone(securedProcesses["general"]?.podTemplate?.spec);
    const [main] = template?.containers ?? [];
    assert.ok(template && main);
    main.volumeMounts = [...(main.volumeMounts ?? []), { name: "more", mountPath: "/var/more" }];
    template.volumes = [...(template.volumes ?? []), { name: "more", emptyDir: {} }];
    await world.world.stopOperator();
    await world.changeSpec({ processes: { general: { podTemplate: { spec: template } } } });
    await loseStatus(world);
    world.world.startOperator();
    await world.clock.advance(500);
    const listeners = new Set<string>();
    await world.until(
      async () => {
        const { metadata, status } = await world.cluster();
        listeners.add(JSON.stringify(status?.requiredAddresses));
        return status?.generations?.reconciled === metadata.generation;
      },
      "the pods have the mount",
      60 * minuteMs,
    );
    assert.deepEqual([...listeners], ['{"tls":true}']);
    assert.deepEqual(commandsOf(world, "killProcesses"), []);
    await assertListening(world, true);
  });
});
