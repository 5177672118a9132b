// Authorities of the operator's own client for one database. Rule: spec/certificates.md [CERT10].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { conditionIn } from "../../src/kube/condition.ts";
import { configMaps } from "../../src/kube/resource.ts";
import { minuteMs, TestWorld, tiny } from "./world-harness.ts";

test("[CERT10] the operator's client trusts what a ConfigMap says, follows its changes, and warns where it is missing", async () => {
  const opened: (string | undefined)[] = [];
  const options = {
    wrapAdmin: (admin: Parameters<NonNullable<TestAdmin>>[0]) => ({
      ...admin,
      open: (asked: Parameters<typeof admin.open>[0]) => {
        opened.push(asked.authorities);
        return admin.open(asked);
      },
    }),
  };
  await TestWorld.runWithCluster({ ...options, spec: tiny }, async (world) => {
    const warning = async () => conditionIn((await world.cluster()).status, "Warning");
    assert.deepEqual([...new Set(opened)], [undefined]);
    await world.changeSpec({ operatorTrust: { configMap: "authorities" } });
    await world.untilReconciled();
    await world.clock.advance(minuteMs);
    assert.equal((await warning())?.reason, "OperatorTrustMissing");
    assert.match((await warning())?.message ?? "", /ConfigMap authorities with the key ca\.crt/);
    assert.deepEqual([...new Set(opened)], [undefined]);

    const key = { namespace: "default", name: "authorities" };
    const labels = { "foundationdb.org/fdb-cluster-name": "sample" };
    await world.client.create(configMaps, {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { ...key, labels } },
      data: { "ca.crt": "first" },
    });
    await world.clock.advance(minuteMs);
    assert.equal(await warning(), undefined, await world.report());
    assert.equal(opened.at(-1), "first");
    await world.client.patch(configMaps, key, { data: { "ca.crt": "second" } }, { type: "merge" });
    await world.clock.advance(minuteMs);
    assert.equal(opened.at(-1), "second");

    const count = opened.length;
    await world.client.delete(configMaps, key);
    await world.clock.advance(minuteMs);
    assert.equal((await warning())?.reason, "OperatorTrustMissing");
    assert.equal(opened.length, count);
    await world.untilReconciled();
  });
});

test("[CERT10] [CERT11] a ConfigMap of another cluster is not trusted, and an operator that starts without it trusts nobody else", async () => {
  const opened: (string | undefined)[] = [];
  const wrapAdmin: TestAdmin = (admin) => ({
    ...admin,
    open: (asked) => {
      opened.push(asked.authorities);
      return admin.open(asked);
    },
  });
  await TestWorld.runWithCluster({ wrapAdmin, spec: tiny }, async (world) => {
    const key = { namespace: "default", name: "authorities" };
    const named = (name: string) => ({ "foundationdb.org/fdb-cluster-name": name });
    await world.client.create(configMaps, {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { ...key, labels: named("other") } },
      data: { "ca.crt": "of another cluster" },
    });
    await world.changeSpec({ operatorTrust: { configMap: "authorities" } });
    await world.clock.advance(minuteMs);
    assert.deepEqual([...new Set(opened)], [undefined]);
    const warning = conditionIn((await world.cluster()).status, "Warning");
    assert.equal(warning?.reason, "OperatorTrustMissing");

    const before = (await world.pods()).length;
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    opened.length = 0;
    world.world.startOperator();
    await world.clock.advance(5 * minuteMs);
    assert.deepEqual(opened, [], "nobody is asked");
    const { status } = await world.cluster();
    const [wait] = status?.blockedBy ?? [];
    assert.equal(wait?.reason, "OperatorTrustMissing");
    assert.match(
      wait?.message ?? "",
      /^There is no ConfigMap authorities with the key ca\.crt.*whom to trust/,
    );
    assert.equal(conditionIn(status, "Available")?.status, "Unknown");
    assert.equal((await world.pods()).length, before);

    const body = { metadata: { labels: named("sample") }, data: { "ca.crt": "right" } };
    await world.client.patch(configMaps, key, body, { type: "merge" });
    await world.untilReconciled();
    assert.deepEqual([...new Set(opened)], ["right"]);
  });
});

test("[CERT11] no database is created with a client that trusts nobody", async () => {
  await TestWorld.run({}, async (world) => {
    await world.createCluster({ ...tiny, operatorTrust: { configMap: "authorities" } });
    await world.clock.advance(10 * minuteMs);
    const created = world.world.fdb.truth.databases().filter(({ isConfigured }) => isConfigured);
    assert.deepEqual(created, []);
    const [wait] = (await world.cluster()).status?.blockedBy ?? [];
    assert.equal(wait?.reason, "OperatorTrustMissing");
    const labels = { "foundationdb.org/fdb-cluster-name": "sample" };
    await world.client.create(configMaps, {
      ...{ apiVersion: "v1", kind: "ConfigMap" },
      metadata: { namespace: "default", name: "authorities", labels },
      data: { "ca.crt": "right" },
    });
    await world.untilReconciled();
  });
});

type TestAdmin = NonNullable<Parameters<typeof TestWorld.run>[0]>["wrapAdmin"];
