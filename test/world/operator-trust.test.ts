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
    assert.match((await warning())?.message ?? "", /key ca\.crt of ConfigMap authorities/);
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

type TestAdmin = NonNullable<Parameters<typeof TestWorld.run>[0]>["wrapAdmin"];
