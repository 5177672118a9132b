// What a person changes in the specification of a cluster.
import assert from "node:assert/strict";
import { persistentVolumeClaims } from "../../src/kube/resource.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { quickKnobs } from "./life-worlds.ts";
import {
  actionsSince,
  changeSpec,
  lifeKey,
  podsOf,
  processesOf,
  statusOf,
  untilAtRest,
  untilAtRestWithCopies,
} from "./life-target.ts";
import type { LifeCase, LifeTarget } from "./life-target.ts";

const callMs = 60_000;

export const lifeChangeCases: readonly LifeCase[] = [
  {
    title:
      "[DB70] a knob takes one kill for all, which is one recovery, after one process group that proves it",
    async run(target) {
      const mark = target.activities.length;
      const before = (await statusOf(target)).cluster?.generation ?? 0;
      const volumes = await volumesOf(target);
      const knob = "knob_storage_hard_limit_bytes=1400000000";
      const customParameters = [...quickKnobs, knob];
      await changeSpec(target, { processes: { general: { customParameters } } });
      const status = await untilAtRest(target);
      for (const { command_line: line = "" } of processesOf(status)) {
        assert.ok(line.includes(`--${knob}`), line);
      }
      const kills = actionsSince(target, mark).filter((type) => type === "killProcesses");
      assert.ok(kills.length === 1 || kills.length === 2, `${kills.length} kills`);
      const recoveries = ((status.cluster?.generation ?? 0) - before) / 2;
      const isExpected = recoveries >= 1 && recoveries <= target.mostRecoveriesOfOneKill;
      assert.ok(isExpected, `${recoveries} recoveries`);
      assert.deepEqual(await volumesOf(target), volumes);
    },
  },
  {
    title: "[DB71] a storage process joins, and a process leaves when its data has moved",
    async run(target) {
      await changeSpec(target, { processCounts: { storage: 4 } });
      const grown = await untilAtRest(target);
      assert.equal(holdersOf(grown, "storage").length, 4);
      await target.data.verify();
      const mark = target.activities.length;
      await changeSpec(target, { processCounts: { storage: 3 } });
      const shrunk = await untilAtRestWithCopies(target, 2);
      assert.equal(holdersOf(shrunk, "storage").length, 3);
      assert.ok(actionsSince(target, mark).includes("excludeProcesses"));
      assert.equal((await volumesOf(target, "storage")).length, 3);
      await assertNobodyExcluded(target);
    },
  },
  {
    title: "[DB71] logs and stateless processes join and leave",
    async run(target) {
      await changeSpec(target, { processCounts: { log: 4, stateless: 4 } });
      await untilAtRest(target);
      assert.equal((await podsOf(target, "log")).length, 4);
      await changeSpec(target, { processCounts: { log: 3, stateless: 3 } });
      await untilAtRest(target);
      assert.equal((await podsOf(target, "log")).length, 3);
      assert.equal((await podsOf(target, "stateless")).length, 3);
      await assertNobodyExcluded(target);
    },
  },
  {
    title: "[DB71] a storage process that a person wants gone is replaced",
    async run(target) {
      const id = fullestOf(await statusOf(target));
      await changeSpec(target, { processGroupsToRemove: [id] });
      const status = await untilAtRestWithCopies(target, 2);
      const ids = processesOf(status).map(({ locality }) => locality?.["instance_id"]);
      assert.ok(!ids.includes(id), `${id} is still there`);
      assert.equal(holdersOf(status, "storage").length, 3);
      await assertNobodyExcluded(target);
    },
  },
  {
    title: "[DB72] the redundancy grows to triple and back to double",
    async run(target) {
      await changeSpec(target, { databaseConfiguration: { redundancy_mode: "triple" } });
      const triple = await untilAtRest(target);
      assert.equal(triple.cluster?.configuration?.redundancy_mode, "triple");
      assert.equal(triple.client?.coordinators?.coordinators?.length, 5);
      assertTolerance(triple, 2);
      await target.data.verify();
      await changeSpec(target, { databaseConfiguration: { redundancy_mode: "double" } });
      const double = await untilAtRest(target);
      assert.equal(double.cluster?.configuration?.redundancy_mode, "double");
      assertTolerance(double, 1);
    },
  },
  {
    title: "[DB72] counts of roles are configured",
    async run(target) {
      await changeSpec(target, { databaseConfiguration: { resolvers: 2 } });
      const status = await untilAtRest(target);
      assert.equal(status.cluster?.configuration?.resolvers, 2);
      assert.equal(holdersOf(status, "resolver").length, 2);
    },
  },
  {
    title: "[DB77] storage pods are replaced under maintenance of their fault domain",
    async run(target) {
      const volumes = await volumesOf(target);
      const before = await podIdentities(target);
      const foundationdb = { name: "foundationdb", env: [{ name: "LIFE", value: "1" }] };
      await changeSpec(target, {
        automationOptions: { maintenanceModeOptions: { UseMaintenanceModeChecker: true } },
        processes: { storage: { podTemplate: { spec: { containers: [foundationdb] } } } },
      });
      const zones = new Set<string>();
      const status = await untilAtRest(target, ({ cluster }) => {
        if (cluster?.maintenance_zone !== undefined) zones.add(cluster.maintenance_zone);
      });
      assert.notDeepEqual([...zones], [], "no fault domain was under maintenance");
      assert.equal(status.cluster?.maintenance_zone, undefined);
      const after = await podIdentities(target);
      assert.ok(!before.some((uid) => after.includes(uid)), "a storage pod is the old one");
      assert.deepEqual(await volumesOf(target), volumes);
    },
  },
];

async function podIdentities(target: LifeTarget): Promise<string[]> {
  return (await podsOf(target, "storage")).map(({ metadata }) => metadata.uid ?? "");
}

function holdersOf(status: DatabaseStatus, role: string): string[] {
  return processesOf(status)
    .filter(({ roles = [] }) => roles.some((each) => each.role === role))
    .map(({ address = "" }) => address);
}

/** So many fault domains may be lost, for the data and for the use of it. */
function assertTolerance({ cluster }: DatabaseStatus, domains: number): void {
  const { fault_tolerance: tolerance } = cluster ?? {};
  assert.equal(tolerance?.max_zone_failures_without_losing_data, domains);
  assert.equal(tolerance?.max_zone_failures_without_losing_availability, domains);
}

/** The storage process with the most data: it cannot leave before much of it has moved. */
function fullestOf(status: DatabaseStatus): string {
  const [fullest] = processesOf(status)
    .map(({ locality, roles = [] }) => {
      const storage = roles.find(({ role }) => role === "storage");
      return { id: locality?.["instance_id"] ?? "", bytes: Number(storage?.["stored_bytes"] ?? 0) };
    })
    .toSorted((left, right) => right.bytes - left.bytes);
  assert.ok(fullest !== undefined && fullest.bytes > 0, "a storage process has data");
  return fullest.id;
}

/** Names and identities of the volume claims. */
async function volumesOf({ world }: LifeTarget, processClass?: string): Promise<string[]> {
  const { namespace } = lifeKey;
  const claims = await world.client.list(persistentVolumeClaims, { namespace });
  return claims.items
    .filter(
      ({ metadata: { labels } }) =>
        processClass === undefined ||
        labels?.["foundationdb.org/fdb-process-class"] === processClass,
    )
    .map(({ metadata: { name, uid } }) => `${name} ${uid}`);
}

async function assertNobodyExcluded({ admin, finish }: LifeTarget): Promise<void> {
  assert.deepEqual(await finish(admin.excluded(callMs)), []);
}
