// `kubectl fdb version` against the emulation.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { deployments } from "../../src/kube/resource.ts";
import { tagOf } from "../../src/plugin/version.ts";
import { TestWorld } from "../world/world-harness.ts";
import { runPlugin } from "./plugin-harness.ts";

async function createOperator(world: TestWorld, namespace: string, image: string): Promise<void> {
  const labels = { "app.kubernetes.io/name": "fdb-operator" };
  await world.client.create(deployments, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "fdb-operator", namespace, labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "operator", image }] },
      },
    },
  });
}

test("[PL10] [PL6] version tells the operators of the namespace, else all, else says what to do", async () => {
  await TestWorld.run({}, async (world) => {
    const alone = await runPlugin(world, ["version", "--client-only"]);
    assert.deepEqual(alone, { code: 0, out: "kubectl-fdb: 0.1.0\n", notes: "" });
    const none = await runPlugin(world, ["version"]);
    assert.deepEqual([none.code, none.out], [1, "kubectl-fdb: 0.1.0\n"]);
    assert.match(none.notes, /^kubectl fdb: there is no Deployment fdb-operator or fdb-kubernetes/);
    await world.createNamespace("databases");
    await createOperator(world, "databases", "localhost:5000/operator:1.2@sha256:abc");
    const found = await runPlugin(world, ["version"]);
    assert.equal(
      found.out,
      "foundationdb-operator: 1.2 (databases/fdb-operator)\nkubectl-fdb: 0.1.0\n",
    );
    const elsewhere = await runPlugin(world, ["version", "-n", "default"]);
    assert.equal(elsewhere.code, 1);
    const before = await runPlugin(world, ["-n", "databases", "version", "-o", "json"]);
    assert.deepEqual(JSON.parse(before.out), {
      plugin: "0.1.0",
      operators: [
        {
          namespace: "databases",
          name: "fdb-operator",
          image: "localhost:5000/operator:1.2@sha256:abc",
          version: "1.2",
        },
      ],
    });
    const wrong = await runPlugin(world, ["version", "--output", "xml"]);
    assert.deepEqual([wrong.code, wrong.out], [2, ""]);
  });
});

test("[PL7] what the server refuses is one line", async () => {
  await TestWorld.run({}, async (world) => {
    world.world.server.context.authorize = ({ userName }) => userName !== "eve";
    const refused = await runPlugin(world, ["version", "--as", "eve"]);
    assert.equal(refused.code, 1);
    assert.match(
      refused.notes,
      /^kubectl fdb: not allowed: .*User "eve" cannot list resource "deployments".*\n$/,
    );
  });
});

test("[PL10] the tag of an image is neither a port nor a digest", () => {
  assert.equal(tagOf("a/b:1.2"), "1.2");
  assert.equal(tagOf("host:5000/b"), "latest");
  assert.equal(tagOf("host:5000/b:3@sha256:aa"), "3");
  assert.equal(tagOf("b@sha256:aa"), "sha256:aa");
});
