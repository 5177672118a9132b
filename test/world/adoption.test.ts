// Databases that come back from their disks after everything else is gone. Rules: spec/adoption.md [ADO1]-[ADO8], [ADO13]-[ADO15].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import {
  adopt,
  afterLoss,
  before,
  claimsNow,
  claimUids,
  forgetLayouts,
  loseAllButDisks,
  made,
  nameLabel,
  patchClaim,
  readerPods,
  untilWait,
} from "./adoption-harness.ts";
import { threeHalls } from "./hall-harness.ts";
import { persistentVolumeClaims, persistentVolumes, pods } from "../../src/kube/resource.ts";
import { runPlugin } from "../plugin/plugin-harness.ts";
import { assertAllCopies, groups } from "./removal-harness.ts";
import { acts } from "./restart-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

const namespace = "default";
const idLabel = "foundationdb.org/fdb-process-group-id";

test("[ADO1] [ADO4] [ADO5] [ADO6] all is lost but the disks: all data is there again, and no database is created", async () => {
  await afterLoss(async (world, lost) => {
    const { connectionString: seedConnectionString } = lost;
    await world.createCluster({ ...before, adopt, seedConnectionString });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(made(world, lost).readers, [], "nobody reads what is known");
    assert.deepEqual(made(world, lost).creations, []);
    const { metadata, status } = await world.cluster();
    assert.equal(status?.configured, true);
    const stateful = (await groups(world)).filter(({ processClass }) =>
      ["storage", "log"].includes(processClass),
    );
    const ids = stateful.map(({ processGroupID }) => processGroupID).sort();
    const labels = (await claimsNow(world)).map((claim) => claim.metadata.labels?.[idLabel] ?? "");
    assert.deepEqual(ids, labels.sort(), "the same process groups");
    for (const claim of await claimsNow(world)) {
      assert.deepEqual(
        claim.metadata.ownerReferences?.map(({ uid }) => uid),
        [metadata.uid],
      );
    }
    assert.equal(world.world.fdb.truth.databases().length, 1, "one database, the old one");
    await assertAllCopies(world);
  });
});

test("[ADO13] [ADO15] where nobody has the connection string it is read from the volumes, before anything starts on them", async () => {
  await afterLoss(async (world, lost) => {
    await world.createCluster({ ...before, adopt });
    assert.match(await untilWait(world, "VolumesBeingRead"), /6 of 6 are left/);
    const readers = await readerPods(world);
    assert.equal(readers.length, 6);
    for (const { metadata, spec } of readers) {
      assert.equal(metadata.labels?.[nameLabel], undefined, "it is no pod of the cluster");
      assert.equal(spec?.automountServiceAccountToken, false);
      const [{ volumeMounts = [], command } = { command: [] }] = spec?.containers ?? [];
      assert.deepEqual(command, ["cp", "/var/fdb/data/fdb.cluster", "/dev/termination-log"]);
      assert.deepEqual(
        volumeMounts.map(({ mountPath, readOnly }) => [mountPath, readOnly]),
        [["/var/fdb/data", true]],
      );
    }
    const isStarted = async (): Promise<boolean> => (await world.pods()).length > 0;
    await world.until(isStarted, "servers start");
    assert.deepEqual(await readerPods(world), [], "the readers are gone by then");
    await world.untilReconciled(20 * minuteMs);
    assert.equal(made(world, lost).readers.length, 6);
    assert.deepEqual(made(world, lost).creations, []);
    assert.equal((await world.cluster()).status?.connectionString, lost.connectionString);
    await assertAllCopies(world);
  });
});

test("[ADO14] [ADO15] volumes that disagree are told, a person decides, and the readers go", async () => {
  const right = "/var/fdb/data/fdb.cluster";
  const spoil = async (world: TestWorld): Promise<void> => {
    const [first, second] = (await world.pods()).filter(
      ({ metadata }) => metadata.labels?.["foundationdb.org/fdb-process-class"] === "storage",
    );
    const exec = world.world.server.pods("person");
    const usual = { namespace, container: "foundationdb", timeoutMs: minuteMs };
    const stdin = new TextEncoder().encode("sample:older@10.9.9.9:4501\n");
    for (const [pod, command] of [
      [first, ["tee", right]],
      [second, ["rm", right]],
    ] as const) {
      const request = { ...usual, pod: pod?.metadata.name ?? "", command, stdin };
      const { exitCode } = await world.during(exec.run(request), minuteMs, command.join(" "));
      assert.equal(exitCode, 0);
    }
  };
  await afterLoss(
    async (world, lost) => {
      await world.createCluster({ ...before, adopt });
      const told = await untilWait(world, "AdoptionRefused");
      assert.match(told, /The volumes disagree about the connection string: sample:\w+@.* on /);
      assert.match(told, /; sample:older@10\.9\.9\.9:4501 on sample-storage-\d+-data/);
      assert.match(told, /not read: sample-storage-\d+-data \(cp: cannot stat .*\)$/);
      await world.clock.advance(11 * minuteMs);
      assert.ok(made(world, lost).readers.length > 6, "they are read again");
      assert.deepEqual(made(world, lost).pods, []);
      await world.changeSpec({ adopt: null });
      const areGone = async (): Promise<boolean> => (await readerPods(world)).length === 0;
      await world.until(areGone, "nobody reads for a wish that was taken back");
      const { connectionString: seedConnectionString } = lost;
      await world.changeSpec({ adopt, seedConnectionString });
      const isServing = async (): Promise<boolean> =>
        (await world.cluster()).status?.health?.available === true;
      await world.until(isServing, "the database serves", 20 * minuteMs);
      assert.deepEqual(made(world, lost).creations, []);
    },
    before,
    spoil,
  );
});

test("[ADO5] [ADO18] also without a majority that knows a database none is created", async () => {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    await world.createCluster({ ...before, adopt });
    assert.match(await untilWait(world, "AdoptionIncomplete"), /storage: 3 of 3 are missing; log/);
    await world.clock.advance(10 * minuteMs);
    assert.equal((await world.pods()).length, 0);
    assert.deepEqual(world.world.fdb.truth.databases(), []);
    const { conditions = [] } = (await world.cluster()).status ?? {};
    for (const type of ["Available", "Degraded"]) {
      const { reason, message } = conditions.find((each) => each.type === type) ?? {};
      assert.equal(reason, "NotConfigured");
      assert.match(message ?? "", /that spec.adopt brings back has not been seen yet/);
    }
  });
});

test("[ADO3] a gap is told: which class, and how many are missing", async () => {
  await afterLoss(async (world, lost) => {
    const spec: Partial<ClusterSpec> = {
      ...before,
      adopt,
      seedConnectionString: lost.connectionString,
      processCounts: { storage: 5, log: 4, stateless: 3 },
    };
    await world.createCluster(spec);
    const told = await untilWait(world, "AdoptionIncomplete");
    assert.match(told, /storage: 2 of 5 are missing; log: 1 of 4 are missing/);
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(made(world, lost).pods, []);
    await world.changeSpec({ processCounts: { storage: 3, log: 3, stateless: 3 } });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(made(world, lost).creations, []);
    await assertAllCopies(world);
  });
});

test("[ADO2] mixtures are refused, each with what is wrong", async () => {
  await afterLoss(async (world, lost) => {
    const { connectionString: seedConnectionString } = lost;
    const [name = ""] = lost.claims.keys();
    const claim = (await claimsNow(world)).find(({ metadata }) => metadata.name === name);
    const id = claim?.metadata.labels?.[idLabel] ?? "";
    const narrower = { mine: "yes" };
    for (const each of lost.claims.keys()) await patchClaim(world, each, { labels: narrower });
    const cases: readonly (readonly [object, object, RegExp])[] = [
      [
        { labels: { [nameLabel]: "other" } },
        { labels: { [nameLabel]: "sample" } },
        /its label foundationdb\.org\/fdb-cluster-name is other, not sample/,
      ],
      [
        { labels: { [idLabel]: `west-${id}` } },
        { labels: { [idLabel]: id } },
        /has the prefix "west", not "" as spec\.processGroupIDPrefix/,
      ],
      [
        { labels: { [idLabel]: null } },
        { labels: { [idLabel]: id } },
        /its labels name no process group and class/,
      ],
    ];
    const volumes = { matchLabels: narrower };
    const spec = { ...before, seedConnectionString, adopt: { volumes } };
    for (const [wrong, right, reason] of cases) {
      await patchClaim(world, name, wrong);
      await world.createCluster(spec);
      assert.match(await untilWait(world, "AdoptionRefused"), reason);
      await world.clock.advance(5 * minuteMs);
      assert.deepEqual(made(world, lost).pods, []);
      await world.client.delete(foundationDbClusters, { namespace, name: "sample" });
      await patchClaim(world, name, right);
    }
    await world.createCluster(spec);
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(made(world, lost).creations, []);
    await assertAllCopies(world);
  });
});

test("[ADO4] a connection string whose coordinators are not among the volumes is refused", async () => {
  await afterLoss(async (world, lost) => {
    const [description = "", hosts = ""] = lost.connectionString.split("@");
    const [first = "", ...rest] = hosts.split(",");
    const strange = rest.map((host) => host.replace(/^sample-[a-z]+-\d+/, "sample-log-0"));
    const wrong = `${description}@${[first, ...strange].join(",")}`;
    await world.createCluster({ ...before, adopt, seedConnectionString: wrong });
    const told = await untilWait(world, "AdoptionIncomplete");
    assert.match(told, /no majority is among the volume claims .* Missing: sample-log-0/);
    const { blockedBy = [] } = (await world.cluster()).status ?? {};
    const wait = blockedBy.find(({ reason }) => reason === "AdoptionIncomplete");
    assert.match(wait?.remedy ?? "", /into spec\.seedConnectionString/);
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(made(world, lost).pods, []);
    // Until the database has been seen, what a person corrects counts.
    await world.changeSpec({ seedConnectionString: lost.connectionString });
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(made(world, lost).creations, []);
    await assertAllCopies(world);
  });
});

const noDatabase = /no database has been created, and spec.adopt says/;
const isElsewhere = /all_logs_recruited$/;

/** What was right, what was specified, and what is told of it where claims do not tell where the data lies. */
const slips: readonly (readonly [string, Partial<ClusterSpec>, Partial<ClusterSpec>, RegExp?])[] = [
  ["the image", { imageType: "unified" }, { imageType: "split" }, noDatabase],
  ["an older version", { version: "7.3.63" }, { version: "7.1.67" }],
  ["servers in a pod", { storageServersPerPod: 2 }, { storageServersPerPod: 1 }, isElsewhere],
  [
    "servers in a pod, where only pods with coordinators have several",
    {
      ...{ imageType: "split", storageServersPerPod: 2 },
      coordinatorSelection: [{ processClass: "storage", priority: 1 }],
    },
    { storageServersPerPod: 1 },
    noDatabase,
  ],
];

test("[ADO16] names that the connection string needs are kept until the database was seen (long)", async () => {
  await afterLoss(
    async (world, { connectionString: seedConnectionString }) => {
      const routing = { useDNSInClusterFile: false };
      const automationOptions = { podUpdateStrategy: "Delete" } as const;
      const adopted = { ...before, adopt, seedConnectionString, automationOptions };
      await world.createCluster({ ...adopted, routing });
      await world.untilReconciled(20 * minuteMs);
      const { status } = await world.cluster();
      assert.doesNotMatch(status?.connectionString ?? "", /svc/);
      assert.deepEqual(await world.events("ReplacingProcesses"), []);
      await assertAllCopies(world);
    },
    { ...before, routing: { useDNSInClusterFile: true } },
  );
});

/** Who took spec.adopt away before that was looked at would create a database beside the old one. */
async function assertPlaceIsDoubted(world: TestWorld, told: RegExp): Promise<void> {
  const { status } = await world.cluster();
  const wait = status?.blockedBy?.find(({ reason }) => reason === "DatabaseNotReady");
  assert.match(wait?.message ?? "", told);
  assert.match(
    wait?.remedy ?? "",
    /\b(Set|look whether) spec.imageType, spec.storageServersPerPod/,
  );
}

for (const [title, right, wrong, told] of slips) {
  test(`[ADO7] [ADO21] what was specified wrongly is told, and corrected on the same disks: ${title}`, async () => {
    await afterLoss(
      async (world, { connectionString: seedConnectionString }) => {
        await world.createCluster({ ...before, ...right, adopt, seedConnectionString, ...wrong });
        await untilWait(world, "DatabaseNotReady");
        await world.clock.advance(10 * minuteMs);
        if (told !== undefined) await assertPlaceIsDoubted(world, told);
        await world.changeSpec(right);
        await world.untilReconciled(20 * minuteMs);
        assert.deepEqual(await world.events("ReplacingProcesses"), []);
        await assertAllCopies(world);
      },
      { ...before, ...right },
      forgetLayouts,
    );
  });
}

for (const [title, right, wrong] of slips.filter(([, , , told]) => told !== undefined)) {
  test(`[ADO7] claims that tell where the data lies need no correction: ${title}`, async () => {
    const held = { automationOptions: { maxConcurrentReplacements: 0 } };
    await afterLoss(
      async (world, lost) => {
        await world.createCluster({ ...before, ...right, adopt, ...wrong, ...held });
        const isBack = async (): Promise<boolean> =>
          (await world.cluster()).status?.configured === true;
        await world.until(isBack, "the database is back", 10 * minuteMs);
        await world.clock.advance(5 * minuteMs);
        const ids = made(world, lost).pods.map(({ processGroupId }) => processGroupId);
        assert.equal(new Set(ids).size, ids.length, "no pod was made twice");
        await assertAllCopies(world);
      },
      { ...before, ...right },
    );
  });
}

test("[HALL5] [ADO6] over halls that the volumes tell, no pod is made more than twice", async () => {
  const former = { ...before, ...threeHalls };
  await afterLoss(
    async (world, lost) => {
      await world.createCluster({ ...former, adopt });
      await world.untilReconciled(20 * minuteMs);
      const times = new Map<string, number>();
      for (const { processGroupId: id } of made(world, lost).pods) {
        times.set(id, (times.get(id) ?? 0) + 1);
      }
      assert.deepEqual(
        [...times].filter(([, count]) => count > 2),
        [],
      );
      await assertAllCopies(world);
    },
    former,
    undefined,
    { nodes: 9, zones: 3 },
  );
});

test("[ADO7] a version that was wrong, and is corrected before a server has started with it, is forgotten", async () => {
  await afterLoss(
    async (world, lost) => {
      const { connectionString: seedConnectionString } = lost;
      await world.createCluster({ ...before, adopt, seedConnectionString, version: "7.3.63" });
      await world.until(async () => (await world.pods()).length > 0, "pods are made");
      await world.changeSpec({ version: "7.1.57" });
      await world.untilReconciled();
      assert.deepEqual(made(world, lost).creations, []);
    },
    { ...before, version: "7.1.57" },
  );
});

test("[ADO7] another version that is wished for while the database comes back does not take it down unseen (long)", async () => {
  const automationOptions = { podUpdateStrategy: "Delete" } as const;
  const former = { ...before, version: "7.3.63", automationOptions };
  await afterLoss(async (world, { connectionString: seedConnectionString }) => {
    await world.createCluster({ ...former, adopt, seedConnectionString });
    const hasStarted = async (): Promise<boolean> => {
      const phases = (await world.pods()).map(({ status }) => status?.phase);
      return phases.length > 0 && phases.every((phase) => phase === "Running");
    };
    await world.until(hasStarted, "all servers start");
    assert.notEqual((await world.cluster()).status?.configured, true);
    await world.changeSpec({ version: "7.4.6" });
    await world.untilReconciled(40 * minuteMs);
    const early = acts(world, "deletePods").filter(({ because }) => because === "early");
    assert.deepEqual(early, []);
    assert.equal((await world.cluster()).status?.runningVersion, "7.4.6");
    await assertAllCopies(world);
  }, former);
});

test("[ADO2] another prefix than that of the volumes is refused, and the remedy names the right one", async () => {
  await afterLoss(async (world, { connectionString: seedConnectionString }) => {
    await world.createCluster({
      ...before,
      adopt,
      seedConnectionString,
      processGroupIDPrefix: "north",
    });
    await untilWait(world, "AdoptionRefused");
    const { status } = await world.cluster();
    const remedies = status?.blockedBy?.map(({ remedy }) => remedy ?? "") ?? [];
    assert.ok(remedies.some((remedy) => remedy.startsWith("Take spec.processGroupIDPrefix away")));
    await world.changeSpec({ processGroupIDPrefix: null });
    await world.untilReconciled(20 * minuteMs);
    await assertAllCopies(world);
  });
});

for (const isKept of [true, false]) {
  test(`[ADO2] a claim is deleted before the database was seen: the remedy ${isKept ? "keeps its volume" : "goes on without it"}`, async () => {
    await TestWorld.runWithCluster({ nodes: 9, spec: before }, async (world) => {
      const seedConnectionString = (await world.cluster()).status?.connectionString ?? "";
      await loseAllButDisks(world);
      // Nothing serves as long as the version is wrong.
      const wrong = { adopt, seedConnectionString, version: "7.1.67" };
      await world.createCluster({ ...before, ...wrong });
      await untilWait(world, "DatabaseNotReady");
      await world.clock.advance(minuteMs);
      const claim = (await claimsNow(world)).find(({ metadata }) => metadata.name?.includes("log"));
      const { name = "" } = claim?.metadata ?? {};
      await world.client.delete(persistentVolumeClaims, { namespace, name });
      assert.match(await untilWait(world, "AdoptionRefused"), /is being deleted/);
      const { status } = await world.cluster();
      const remedy = status?.blockedBy?.[0]?.remedy ?? "";
      const [, pod = "", volume = ""] = /pod (\S+) is gone.* of (\S+) to Retain/.exec(remedy) ?? [];
      if (isKept) {
        const kept = { spec: { persistentVolumeReclaimPolicy: "Retain" } };
        await world.client.patch(persistentVolumes, { name: volume }, kept, { type: "merge" });
      }
      await world.client.delete(pods, { namespace, name: pod });
      await untilWait(world, "AdoptionIncomplete");
      const processCounts = { storage: 3, log: isKept ? 3 : 2, stateless: 3 };
      await world.changeSpec({ version: before.version, processCounts });
      if (isKept) {
        const given = await runPlugin(world, ["volumes", "rebind", "sample"], { answers: ["y"] });
        assert.equal(given.code, 0, given.notes);
      }
      await world.untilReconciled(20 * minuteMs);
      await assertAllCopies(world);
    });
  });
}

test("[ADO7] packing, and process groups to remove, wait until the database was seen: nothing empty joins it (long)", async () => {
  const databaseConfiguration = { redundancy_mode: "single" } as const;
  const former = { ...before, databaseConfiguration };
  await TestWorld.runWithCluster({ nodes: 9, spec: former }, async (world) => {
    const seedConnectionString = (await world.cluster()).status?.connectionString ?? "";
    const claims = await claimUids(world);
    const leaving = [...claims.keys()].map((name) => name.replace(/^sample-(.*)-data$/, "$1"));
    await forgetLayouts(world);
    await loseAllButDisks(world);
    await world.createCluster({
      ...former,
      ...{ adopt, seedConnectionString, imageType: "split", processGroupsToRemove: leaving },
      distributionConfig: { enabled: true, desiredFaultDomains: 4 },
    });
    await untilWait(world, "DatabaseNotReady");
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(await claimUids(world), claims);
    await world.changeSpec({ imageType: "unified" });
    await world.untilReconciled(30 * minuteMs);
    world.assertDataSafe();
    const { status } = await world.cluster();
    const ids = status?.processGroups?.map((group) => group.processGroupID) ?? [];
    assert.equal(ids.length, 9);
    assert.deepEqual(
      ids.filter((id) => leaving.includes(id)),
      [],
    );
  });
});

test("[ADO8] the connection string of another database that serves costs no disk, and can be corrected (long)", async () => {
  const other = { name: "other" };
  await TestWorld.runWithCluster({ nodes: 12, spec: before }, async (world) => {
    const right = (await world.cluster()).status?.connectionString ?? "";
    const claims = await claimUids(world);
    await loseAllButDisks(world);
    // Names would tell that its coordinators are elsewhere.
    await world.createCluster({ ...before, routing: { useDNSInClusterFile: false } }, other);
    await world.untilReconciled(10 * minuteMs, other);
    const wrong = (await world.cluster(other)).status?.connectionString ?? "";
    const automationOptions = {
      replacements: { enabled: true, failureDetectionTimeSeconds: 60 },
      waitBetweenRemovalsSeconds: 0,
    };
    await world.createCluster({ ...before, automationOptions, adopt, seedConnectionString: wrong });
    await world.clock.advance(20 * minuteMs);
    assert.match(await untilWait(world, "DatabaseForeign"), /serves without the volumes/);
    assert.notEqual((await world.cluster()).status?.configured, true);
    const now = await claimUids(world);
    for (const [name, uid] of claims) assert.equal(now.get(name), uid, `${name} is there`);
    await world.changeSpec({ seedConnectionString: right });
    await world.untilReconciled(20 * minuteMs);
    assert.equal((await world.cluster()).status?.connectionString, right);
    world.assertDataSafe(2);
  });
});
