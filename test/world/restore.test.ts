// Restores that the operator looks after, compared key by key with the source at that version. Rules: spec/restore.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import type { RestoreSpec } from "../../src/api/restore.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { secrets } from "../../src/kube/resource.ts";
import type { Resource, Stored } from "../../src/kube/resource.ts";
import { leaseRules, namespacedRules, nodeRules } from "../../src/operate/permissions.ts";
import { exampleText } from "./example.ts";
import { backupUrl, clusterFile, createAgents, runCommand } from "./backup-harness.ts";
import { agentTemplate, backupOf } from "./managed-backup.ts";
import { RestoreWorld, restoreOf } from "./managed-restore.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

const { blobStoreConfiguration } = backupOf().spec;
const fromStore: Partial<RestoreSpec> = {
  fromBackup: undefined,
  ...(blobStoreConfiguration && {
    blobStoreConfiguration: { ...blobStoreConfiguration, backupName: "nightly" },
  }),
};

test("[RS1][RS30][RS56][RS80][RS82][RS83] the latest point is restored into an empty cluster, with agents of its own, and then costs nothing (long)", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const mark = scene.world.requests.length;
    await scene.createRestore();
    await scene.untilCompleted();
    const status = await scene.restoreStatus();
    assert.equal(status.state, "completed");
    const version = status.target?.version ?? 0;
    assert.deepEqual(await scene.content("copy"), ["a=1", "b=3", "c=4", "p/1=x"]);
    assert.deepEqual(await scene.content("copy"), await scene.content("sample", version));
    assert.deepEqual(scene.begun(mark), ["describe", "start"]);
    assert.deepEqual(
      status.conditions?.map(({ type, status: is }) => `${type}=${is}`),
      ["Reconciled=True", "Running=False", "Completed=True"],
    );
    assert.equal(status.blockedBy, undefined);
    assert.equal(await scene.lockOf("copy"), undefined);
    await scene.advance(2_000);
    assert.equal(await scene.ownAgents(), 0, "the agents are gone");
    assert.deepEqual((await scene.restore())?.metadata.finalizers ?? [], []);
    await scene.advance(15 * minuteMs);
    assert.deepEqual(await scene.commandPods(), []);
    const rest = scene.world.requests.length;
    await scene.advance(20 * minuteMs);
    const writes = scene.world
      .writesSince(rest)
      .filter((write) => write.includes("foundationdbrestores"));
    assert.deepEqual(writes, []);
    assert.equal((await scene.world.events("RestoreCompleted")).length, 1);
  });
});

test("[RS1][RS56] a version is restored exactly, not what came after it", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const version = (await scene.status()).restorable?.to?.version ?? 0;
    await scene.write("sample", { a: "later", z: "later" });
    await scene.advance(2 * minuteMs);
    await scene.createRestore({ to: { version } });
    await scene.untilCompleted();
    assert.equal((await scene.restoreStatus()).target?.version, version);
    const before = await scene.content("sample", version);
    assert.ok(!before.join().includes("later"), before.join());
    assert.deepEqual(await scene.content("copy"), before);
  });
});

test("[RS48] a time is restored to a version that is never later, and the status says by how much it may be earlier", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.write("sample", { before: "1" });
    await scene.advance(30_000);
    const time = new Date(scene.world.clock.nowMs()).toISOString();
    await scene.advance(1_000);
    await scene.write("sample", { after: "1" });
    await scene.advance(2 * minuteMs);
    await scene.createRestore({ to: { time } });
    await scene.untilCompleted();
    const { target } = await scene.restoreStatus();
    assert.equal(target?.time, time);
    assert.ok((target?.earlierBySeconds ?? 99) <= 15, JSON.stringify(target));
    const held = await scene.content("copy");
    assert.deepEqual(held, await scene.content("sample", target?.version));
    assert.ok(held.includes("before=1") && !held.includes("after=1"), held.join());
  });
});

test("[RS48] the lines of a timeline in the spec are enough when the backup's resource is gone", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const { restorable } = await scene.status();
    const at = Date.parse(restorable?.to?.time ?? "");
    const line = (seconds: number): string => {
      const time = new Date(at + seconds * 1000).toISOString().slice(0, 19);
      return `${time}Z ${(restorable?.to?.version ?? 0) + seconds * 1_000_000}`;
    };
    await scene.createRestore({
      ...fromStore,
      agents: { count: 1, imageType: "unified", podTemplateSpec: agentTemplate },
      to: { time: new Date(at - 5_000).toISOString() },
      timeline: [line(-20), line(-10), line(0)],
    });
    await scene.untilCompleted();
    const { target } = await scene.restoreStatus();
    assert.ok((target?.version ?? Infinity) <= (restorable?.to?.version ?? 0) - 5_000_000);
    assert.deepEqual(await scene.content("copy"), await scene.content("sample", target?.version));
  });
});

test("[RS12][RS32] ranges and prefixes put old data beside the new, also into the source while its backup runs", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.createRestore({
      destinationClusterName: "sample",
      keyRanges: [{ start: "p/", end: "p/\\xff" }],
      removePrefix: "p/",
      addPrefix: "old/",
    });
    await scene.untilCompleted();
    const held = await scene.content("sample");
    assert.deepEqual(held, ["a=1", "b=3", "c=4", "old/1=x", "p/1=x"]);
    assert.equal(await scene.ownAgents(), 0, "the agents of the backup did it");
    await scene.createRestore({ destinationClusterName: "copy", addPrefix: "all/" }, "all");
    await scene.untilCompleted("all");
    assert.deepEqual(
      await scene.content("copy"),
      (await scene.content("sample", (await scene.restoreStatus("all")).target?.version)).map(
        (entry) => `all/${entry}`,
      ),
    );
  });
});

test("[RS43] restores into one database follow each other", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    for (const name of ["one", "two", "three"]) {
      await scene.createRestore({ addPrefix: `${name}/` }, name);
    }
    for (const name of ["one", "two", "three"]) await scene.untilCompleted(name);
    const held = await scene.content("copy");
    for (const name of ["one", "two", "three"]) {
      assert.equal((await scene.restoreStatus(name)).state, "completed");
      assert.equal(held.filter((entry) => entry.startsWith(`${name}/`)).length, 4, held.join());
    }
    assert.equal(scene.begun().filter((command) => command === "start").length, 4);
  });
});

test("[RS44] a tag is used again when its restore has ended, and the old end is not taken for the new one", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const version = (await scene.status()).restorable?.to?.version ?? 0;
    for (const name of ["first", "second"]) {
      await scene.createRestore({ tag: "mine", to: { version }, addPrefix: `${name}/` }, name);
      await scene.untilCompleted(name);
      const held = (await scene.content("copy")).filter((entry) => entry.startsWith(name));
      const wanted = (await scene.content("sample", version)).map((entry) => `${name}/${entry}`);
      assert.deepEqual(held, wanted);
    }
    const [first, second] = [
      await scene.restoreStatus("first"),
      await scene.restoreStatus("second"),
    ];
    assert.equal(second.earlierUID, first.restoreUID);
    assert.notEqual(second.restoreUID, first.restoreUID);
  });
});

test("[RS4] a restore that the Go operator has started is followed, and never started again", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const version = (await scene.status()).restorable?.to?.version ?? 0;
    await createAgents(scene.world, "copy", 1);
    await scene.advance(minuteMs);
    const args = ["start", "--dest-cluster-file", clusterFile, "-r", backupUrl("nightly")];
    await runCommand(scene.world, "copy", ["fdbrestore", ...args, "-v", String(version)]);
    const mark = scene.world.requests.length;
    const { client } = scene.world;
    const status = { running: true, state: "running" };
    for (const [name, given] of [
      ["go-running", status],
      ["go-completed", { running: true, state: "completed" }],
    ] as const) {
      // As after a change of operators: the status is there before anybody looks.
      await scene.world.during(scene.world.world.stopOperator(), minuteMs, "the operator's end");
      const made = await client.create(foundationDbRestores, restoreOf(fromStore, name));
      await client.updateStatus(foundationDbRestores, { ...made, status: given });
      scene.world.world.startOperator();
    }
    await scene.untilRestore(
      ({ state }) => state === "completed",
      "followed",
      minuteMs * 5,
      "go-running",
    );
    await scene.advance(5 * minuteMs);
    assert.deepEqual(scene.begun(mark), []);
    assert.equal((await scene.restoreStatus("go-running")).tag, "default");
    assert.equal(await scene.ownAgents("go-completed"), 0);
    for (const name of ["go-running", "go-completed"]) {
      const { conditions = [] } = await scene.restoreStatus(name);
      assert.equal(conditions.find(({ type }) => type === "Completed")?.status, "True", name);
    }
    assert.deepEqual(await scene.content("copy"), await scene.content("sample", version));
  });
});

test("[RS1][RS56] the example of the manual restores the backup of the other example", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const documents = ["backup.yaml", "restore.yaml"].flatMap((file) =>
      parseAllDocuments(exampleText(file)).map((each) => each.toJS() as Stored<object>),
    );
    const resources: Readonly<Record<string, Resource<KubeObject>>> = {
      Secret: secrets,
      FoundationDBBackup: foundationDbBackups,
      FoundationDBCluster: foundationDbClusters,
      FoundationDBRestore: foundationDbRestores,
    };
    for (const object of documents) {
      const resource = resources[object.kind];
      assert.ok(resource, object.kind);
      const metadata = { namespace: "default", ...object.metadata };
      await world.client.create(resource, { ...object, metadata });
    }
    const key = { namespace: "default", name: "into-copy" };
    await world.until(
      async () => (await world.client.get(foundationDbRestores, key)).status?.state === "completed",
      "the example is restored",
      20 * minuteMs,
    );
    assert.equal((await world.events("SpecWarning")).length, 0);
  });
});

test("[RS86] a restore, and one that is aborted, use exactly the rights that there are for it", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    const mark = scene.world.requests.length;
    await scene.createRestore();
    await scene.untilCompleted();
    await scene.advance(minuteMs);
    const used = new Set(
      scene.world.requests
        .slice(mark)
        .map(
          ({ verb, resource, subresource }) =>
            `${verb} ${resource.plural}${subresource === undefined ? "" : `/${subresource}`}`,
        ),
    );
    const granted = [...namespacedRules, ...leaseRules, ...nodeRules].flatMap(
      ({ resources, verbs }) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    );
    assert.deepEqual(
      [...used].filter((right) => !granted.includes(right)),
      [],
    );
    const ofRestores = granted.filter((right) => right.includes("restores"));
    // Lists and watches began before.
    assert.deepEqual(
      ofRestores.filter((right) => !used.has(right)),
      ["list foundationdbrestores", "watch foundationdbrestores"],
    );
  });
});
