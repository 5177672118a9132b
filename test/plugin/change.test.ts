// Two people at once, a cluster that goes away, and removals without exclusion.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { small, TestWorld } from "../world/world-harness.ts";
import { runPlugin } from "./plugin-harness.ts";

/** Does something between the plugin's reading and its first write. */
function beforeFirstWrite(
  act: () => Promise<unknown>,
): (transport: KubeTransport) => KubeTransport {
  let isDone = false;
  return (transport) => ({
    async request(request) {
      if (request.method === "PATCH" && !isDone) {
        isDone = true;
        await act();
      }
      return transport.request(request);
    },
    watch: (request, onEvent) => transport.watch(request, onEvent),
  });
}

test("[PL30] [PL31] two people at once lose nothing, and a changed change is shown again", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    await world.during(world.world.stopOperator(), 600_000, "the end of the operator");
    const [first, second] = (await world.cluster()).status?.processGroups ?? [];
    const [one, two] = [first?.processGroupID ?? "", second?.processGroupID ?? ""];
    const args = (id: string) => ["remove", "process-groups", "-c", "sample", id];
    const other = () => world.changeSpec({ processGroupsToRemove: [two] });
    const through = beforeFirstWrite(other);
    const result = await runPlugin(world, args(one), { through, answers: ["y", "y"] });
    assert.equal(result.code, 0, result.notes);
    assert.match(result.notes, /Somebody else has changed it meanwhile\.\n[^]*\[y\/n\]: $/);
    const { spec } = await world.cluster();
    assert.deepEqual(spec.processGroupsToRemove, [one, two].toSorted());
    const again = await runPlugin(world, [...args(one), "--yes"]);
    assert.equal(again.code, 0);
    const unrelated = () =>
      world.changeSpec({ automationOptions: { maxConcurrentReplacements: 3 } });
    const third = (await world.cluster()).status?.processGroups?.[2]?.processGroupID ?? "";
    const once = await runPlugin(world, args(third), {
      through: beforeFirstWrite(unrelated),
      answers: ["y"],
    });
    assert.equal(once.code, 0, once.notes);
    assert.equal((await world.cluster()).spec.automationOptions?.maxConcurrentReplacements, 3);
  });
});

test("[PL32] [PL22] a cluster that is deleted half-way is not changed", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const [pod] = await world.pods("storage");
    const name = pod?.metadata.name ?? "";
    const args = ["remove", "process-groups", "-c", "sample", name, "--yes"];
    const through = beforeFirstWrite(() =>
      world.client.delete(foundationDbClusters, { namespace: "default", name: "sample" }),
    );
    const result = await runPlugin(world, args, { through });
    assert.equal(result.code, 1);
    assert.match(
      result.notes,
      /kubectl fdb: .*(there is no FoundationDBCluster sample|being deleted|not found)/,
    );
  });
});

test("[PL42] [PL5] without exclusion the name is typed, and what is lost is said first", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    await world.during(world.world.stopOperator(), 600_000, "the end of the operator");
    const args = [
      "remove",
      "process-groups",
      "-c",
      "sample",
      "--process-class=storage",
      "-e=false",
    ];
    const no = await runPlugin(world, args, { answers: ["y"] });
    assert.equal(no.code, 1);
    assert.match(no.notes, /DATA WILL BE LOST FOR GOOD[^]*Type the name of the cluster/);
    assert.equal((await world.cluster()).spec.processGroupsToRemoveWithoutExclusion, undefined);
    const yes = await runPlugin(world, args, { answers: ["sample"] });
    assert.equal(yes.code, 0, yes.notes);
    assert.equal((await world.cluster()).spec.processGroupsToRemoveWithoutExclusion?.length, 3);
  });
});

test("[PL21] [PL44] a pod tells its cluster, and a node is emptied by the operator", async () => {
  await TestWorld.runWithCluster({ spec: small, nodes: 8 }, async (world) => {
    const [pod] = await world.pods("storage");
    const name = pod?.metadata.name ?? "";
    const node = pod?.spec?.nodeName ?? "";
    const removed = await runPlugin(world, ["cordon", node, "--yes"]);
    assert.equal(removed.code, 0, removed.notes);
    assert.match(removed.out, /default\/sample: removes .*storage-/);
    const again = await runPlugin(world, ["remove", "process-groups", name, "--yes"]);
    assert.equal(again.code, 0, again.notes);
    const gone = async () => (await world.pods()).every((each) => each.metadata.name !== name);
    await world.until(gone, "the pod is gone", 30 * 60_000);
    await world.untilReconciled(30 * 60_000);
    world.assertDataSafe();
  });
});

test("[PL46] a fail-over is shown, asked about and written", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    await world.during(world.world.stopOperator(), 600_000, "the end of the operator");
    const region = (id: string, priority: number) => ({ datacenters: [{ id, priority }] });
    const regions = [region("dc1", 1), region("dc2", 0)];
    await world.changeSpec({ databaseConfiguration: { usable_regions: 2, regions } });
    const args = ["get", "configuration", "sample", "--fail-over", "--update"];
    const rehearsed = await runPlugin(world, [...args, "--dry-run"]);
    assert.equal(rehearsed.code, 0, rehearsed.notes);
    assert.match(rehearsed.notes, /- +priority: 1\n\+ +priority: 0\n[^]*would be swapped/);
    assert.equal((await runPlugin(world, args, { answers: ["n"] })).code, 1);
    const read = async () => (await world.cluster()).spec.databaseConfiguration?.regions;
    assert.deepEqual(await read(), regions);
    assert.equal((await runPlugin(world, args, { answers: ["y"] })).code, 0);
    const swapped = [region("dc1", 0), region("dc2", 1)];
    assert.deepEqual(await read(), swapped);
    const unasked = await runPlugin(world, [...args, "--yes"]);
    assert.deepEqual([unasked.code, await read()], [2, swapped]);
    assert.match(unasked.notes, /say with --to DATACENTER/);
    const again = await runPlugin(world, [...args, "--to", "dc2", "--yes"]);
    assert.deepEqual([again.code, await read()], [0, swapped], again.notes);
    assert.match(again.notes, /dc2 is the primary datacenter already/);
    const nowhere = await runPlugin(world, [...args, "--to", "dc9", "--yes"]);
    assert.deepEqual([nowhere.code, await read()], [1, swapped]);
    assert.match(nowhere.notes, /no main datacenter dc9: there are dc2 and dc1/);
    // Somebody else has made dc1 the primary meanwhile: the question was about dc2, and so is the write.
    await world.changeSpec({ databaseConfiguration: { usable_regions: 2, regions } });
    const other = () =>
      world.changeSpec({ databaseConfiguration: { usable_regions: 2, regions: swapped } });
    const both = await runPlugin(world, args, {
      ...{ through: beforeFirstWrite(other), answers: ["y"] },
    });
    assert.deepEqual([both.code, await read()], [0, swapped], both.notes);
  });
});

test("[PL46] a fail-over that the database has not followed yet is not swapped back", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    await world.during(world.world.stopOperator(), 600_000, "the end of the operator");
    const region = (id: string, priority: number) => ({ datacenters: [{ id, priority }] });
    const before = { usable_regions: 2, regions: [region("dc1", 1), region("dc2", 0)] };
    const after = { usable_regions: 2, regions: [region("dc1", 0), region("dc2", 1)] };
    await world.changeSpec({ databaseConfiguration: after });
    const cluster = await world.cluster();
    await world.client.updateStatus(foundationDbClusters, {
      ...cluster,
      status: { ...cluster.status, databaseConfiguration: before },
    });
    const args = ["get", "configuration", "sample", "--fail-over", "--update"];
    const refused = await runPlugin(world, args, { answers: ["y"] });
    assert.equal(refused.code, 1);
    assert.match(refused.notes, /under way: the resource makes dc2 the primary, and .* has dc1/);
    assert.deepEqual((await world.cluster()).spec.databaseConfiguration?.regions, after.regions);
    const said = await runPlugin(world, [...args, "--to", "dc1", "--yes"]);
    assert.equal(said.code, 0, said.notes);
    assert.deepEqual((await world.cluster()).spec.databaseConfiguration?.regions, before.regions);
  });
});

test("[PL22] a mistyped name among right ones is an error, and nothing is done for the others", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const [pod] = await world.pods("storage");
    const name = pod?.metadata.name ?? "";
    const commands = [
      ["remove", "process-groups"],
      ["buggify", "no-schedule"],
      ["buggify", "crash-loop"],
      ["restart"],
    ];
    const mark = world.world.server.context.store.revision;
    for (const command of commands) {
      const args = [...command, "-c", "sample", name, `${name}7`, "nobody-1", "--yes"];
      const { code, out, notes } = await runPlugin(world, args);
      assert.deepEqual([code, out], [1, ""], notes);
      const near = `${name}7 is no process group of sample \\(did you mean .*${name}.*\\?\\)`;
      const all = `nobody-1 is no process group of sample; ${near}; nothing was changed`;
      assert.match(notes, new RegExp(all));
    }
    const byPod = await runPlugin(world, ["restart", name, "nobody-1", "nobody-2", "--yes"]);
    assert.equal(byPod.code, 1);
    assert.match(byPod.notes, /there is no pod nobody-1, nobody-2 in namespace default/);
    const nodes = await runPlugin(world, ["cordon", "node-1", "nod-1", "nod-2", "--yes"]);
    assert.equal(nodes.code, 1);
    assert.match(nodes.notes, /there is no node nod-1, nod-2; nothing was changed/);
    assert.equal(world.world.server.context.store.revision, mark);
  });
});

test("[PL60] [PL63] [PL24] all pods are restarted one after the other, with pauses", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const beganMs = world.clock.nowMs();
    const args = ["restart", "-c", "sample", "--all-processes", "--sleep", "10s", "--yes"];
    const result = await runPlugin(world, args);
    assert.equal(result.code, 0, result.notes);
    assert.equal(result.out.match(/^sample-\S+: restarts$/gm)?.length, 9);
    assert.ok(world.clock.nowMs() - beganMs >= 80_000);
    await world.clock.advance(60_000);
    world.assertDataSafe();
  });
});
