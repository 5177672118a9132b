// What a database must come through whatever happens to those who look after it: its operator is killed again and again,
// nothing but its disks is left, every storage server gets another engine, all traffic turns to TLS and back.
import assert from "node:assert/strict";
import { apiVersion, foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { randomInteger, seededRandom } from "../../src/env/random.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { configMaps, persistentVolumeClaims, pods, services } from "../../src/kube/resource.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { withCertificates } from "../../src/sim/sample-certificates.ts";
import { runPlugin } from "../plugin/plugin-harness.ts";
import {
  changeSpec,
  clusterOf,
  coordinatorPods,
  lifeKey,
  podsOf,
  processesOf,
  statusOf,
  until,
  untilAtRest,
  untilAtRestWithCopies,
} from "./life-target.ts";
import type { LifeCase, LifeTarget } from "./life-target.ts";
import { quickKnobs } from "./life-worlds.ts";

const { namespace } = lifeKey;
const nameLabel = "foundationdb.org/fdb-cluster-name";
const idLabel = "foundationdb.org/fdb-process-group-id";
const killsInChange = 4;

export const lifeSurvivalCases: readonly LifeCase[] = [
  {
    title: "[DB81] an operator that is killed again and again brings every change to its end",
    async run(target) {
      const random = seededRandom(81);
      const kill = async (): Promise<void> => {
        for (let count = 0; count < killsInChange; count += 1) {
          await target.pass(randomInteger(random, 1, 8));
          await target.killOperator();
        }
      };
      const knob = "knob_storage_hard_limit_bytes=1475000000";
      await changeSpec(target, {
        processes: { general: { customParameters: [...quickKnobs, knob] } },
      });
      await kill();
      const status = await untilAtRest(target);
      for (const { command_line: line = "" } of processesOf(status)) {
        assert.ok(line.includes(`--${knob}`), line);
      }
      await changeSpec(target, { processCounts: { storage: 4 } });
      await kill();
      await untilAtRest(target);
      const [pod] = await podsOf(target, "storage");
      const id = pod?.metadata.labels?.[idLabel] ?? "";
      await changeSpec(target, { processCounts: { storage: 3 }, processGroupsToRemove: [id] });
      await kill();
      await untilAtRestWithCopies(target, 2);
      assert.equal((await podsOf(target, "storage")).length, 3);
      assert.deepEqual(await target.finish(target.admin.excluded(60_000)), []);
    },
  },
  {
    title:
      "[DB82] [ADO6] [PL71] a database of which nothing but its disks is left is adopted with all its data",
    async run(target) {
      const { spec, status } = await clusterOf(target);
      const claims = await claimsOf(target);
      const coordinators = await coordinatorPods(target);
      const mark = target.activities.length;
      await loseAllButDisks(target);
      assert.deepEqual(await claimsOf(target), claims, "the claims are there");
      await target.world.client.create(foundationDbClusters, {
        ...{ apiVersion, kind: "FoundationDBCluster", metadata: lifeKey },
        spec: {
          ...spec,
          adopt: { volumes: { matchLabels: { [nameLabel]: lifeKey.name } } },
          seedConnectionString: status?.connectionString ?? "",
        },
      });
      await until(target, "all pods run again, under other addresses", async () => {
        const all = await podsOf(target);
        return (
          all.length === status?.processGroups?.length &&
          all.every((pod) => pod.status?.phase === "Running")
        );
      });
      await nameCoordinators(target, status?.connectionString ?? "", coordinators);
      await target.reopen();
      await untilAtRest(target);
      const isCreation = target.activities
        .slice(mark)
        .some(
          (each) =>
            each.type === "action" && each.action.type === "configureDatabase" && each.action.isNew,
        );
      assert.ok(!isCreation, "a database was created");
      const fields = { adopt: null, seedConnectionString: null };
      const merge = { type: "merge" } as const;
      await target.world.client.patch(foundationDbClusters, lifeKey, { spec: fields }, merge);
      await untilAtRest(target);
      assert.deepEqual(await claimsOf(target), claims, "and no other ones");
    },
  },
  {
    title: "[DB83] every storage server gets another engine, and the one before again",
    async run(target) {
      const { spec } = await clusterOf(target);
      const before = spec.databaseConfiguration?.storage_engine ?? "ssd-2";
      for (const engine of ["ssd-redwood-1", before] as const) {
        await changeSpec(target, {
          databaseConfiguration: { storage_engine: engine, storage_migration_type: "aggressive" },
        });
        const status = await untilAtRestWithCopies(target, 2);
        assert.equal(status.cluster?.configuration?.storage_engine, engine);
        await target.data.verify();
      }
    },
  },
  {
    title: "[DB84] all traffic turns to TLS, and back",
    async run(target) {
      const { spec } = await clusterOf(target);
      const processes = secured(spec.processes);
      await changeSpec(target, { processes, mainContainer: { enableTls: true } });
      await followed(target);
      const encrypted = await untilAtRest(target);
      assertAddresses(encrypted, await connectionOf(target), true);
      await target.data.verify();
      await changeSpec(target, { mainContainer: { enableTls: false } });
      await followed(target);
      assertAddresses(await untilAtRest(target), await connectionOf(target), false);
    },
  },
];

/**
 * All coordinators listen elsewhere now. A client of the real library is told of that by those from before; one of the
 * simulated database hears of it only when it asks in time.
 */
async function followed(target: LifeTarget): Promise<void> {
  await until(target, "the change is reconciled", async () => {
    const { metadata, status } = await clusterOf(target);
    return status?.generations?.reconciled === metadata.generation;
  });
  const { client } = await statusOf(target);
  if (client?.database_status?.available === true) return;
  assert.ok(target.crashClients === undefined, "a client has lost the coordinators");
  await target.reopen();
}

type Settings = NonNullable<ClusterSpec["processes"]>[string];

/** Certificates for every class that has a template of its own, and in general. */
function secured(processes: ClusterSpec["processes"]): ClusterSpec["processes"] {
  const plain = { containers: [{ name: "foundationdb" }] };
  const all = Object.entries<Settings>({ general: {}, ...processes });
  return Object.fromEntries(
    all
      .filter(([name, { podTemplate }]) => name === "general" || podTemplate !== undefined)
      .map(([name, { podTemplate }]) => {
        const spec = withCertificates(podTemplate?.spec ?? plain);
        return [name, { podTemplate: { ...podTemplate, spec } }];
      }),
  );
}

function assertAddresses(status: DatabaseStatus, connection: string, isTls: boolean): void {
  const addresses = processesOf(status).map(({ address = "" }) => address);
  for (const address of [...addresses, ...coordinatorsOf(connection)]) {
    assert.equal(address.endsWith(":tls"), isTls, address);
  }
}

async function connectionOf(target: LifeTarget): Promise<string> {
  return (await clusterOf(target)).status?.connectionString ?? "";
}

/** Pods that came back have other addresses than the connection string: a person names those of the coordinators' pods. */
async function nameCoordinators(
  target: LifeTarget,
  before: string,
  names: readonly string[],
): Promise<void> {
  const { world, finish } = target;
  const all = await podsOf(target);
  const ipOf = (name: string): string =>
    all.find(({ metadata }) => metadata.name === name)?.status?.podIP ?? "";
  const [head = "", addresses = ""] = before.split("@");
  const rests = addresses.split(",").map((address) => address.slice(address.indexOf(":")));
  const wanted = names.map((name, index) => `${ipOf(name)}${rests[index]}`);
  const place = { world, during: <T>(promise: Promise<T>): Promise<T> => finish(promise) };
  const string = `${head}@${wanted.join(",")}`;
  const args = ["update", "connection-string", "-c", lifeKey.name, string];
  let told = "";
  await until(
    target,
    () => `update connection-string succeeds: ${told}`,
    async () => {
      const { code, notes } = await runPlugin(place, [...args, "--yes", "--confirm", lifeKey.name]);
      told = notes;
      return code === 0;
    },
  );
}

/** The resource goes without what it owns, and then everything but the claims. */
async function loseAllButDisks(target: LifeTarget): Promise<void> {
  const { client } = target.world;
  await client.delete(foundationDbClusters, lifeKey, { propagationPolicy: "Orphan" });
  await until(target, "the resource is gone", async () => {
    return (await client.find(foundationDbClusters, lifeKey)) === undefined;
  });
  await deleteAll(target, pods);
  await deleteAll(target, services);
  await deleteAll(target, configMaps);
  await until(target, "all pods are gone", async () => {
    return (await client.list(pods, { namespace })).items.length === 0;
  });
}

async function deleteAll<T extends KubeObject>(
  { world: { client } }: LifeTarget,
  resource: Resource<T>,
): Promise<void> {
  const labelSelector = `${nameLabel}=${lifeKey.name}`;
  const { items } = await client.list(resource, { namespace, labelSelector });
  for (const { metadata } of items) {
    await client.delete(resource, { namespace, name: metadata.name ?? "" });
  }
}

async function claimsOf({ world }: LifeTarget): Promise<string[]> {
  const { items } = await world.client.list(persistentVolumeClaims, { namespace });
  return items.map(({ metadata: { name, uid } }) => `${name} ${uid}`).toSorted();
}
