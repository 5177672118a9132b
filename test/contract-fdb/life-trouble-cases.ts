// What happens to a cluster without anybody wanting it.
import assert from "node:assert/strict";
import { pods } from "../../src/kube/resource.ts";
import {
  actionsSince,
  changeSpec,
  clusterOf,
  lifeKey,
  podsOf,
  processesOf,
  statusOf,
  until,
  untilAtRest,
} from "./life-target.ts";
import type { LifeCase, LifeTarget } from "./life-target.ts";

export const lifeTroubleCases: readonly LifeCase[] = [
  {
    title: "[DB73] a deleted storage pod comes back with its data",
    async run(target) {
      const name = await firstStoragePod(target);
      const before = storageIdOf(await statusOf(target), name);
      await deletePod(target, name);
      const status = await untilAtRest(target);
      assert.equal(storageIdOf(status, name), before, "the storage server is another one");
    },
  },
  {
    title:
      "[DB73] a deleted coordinator comes back with another address, or another one takes its place",
    async run(target) {
      const { status: { connectionString: before = "" } = {} } = await clusterOf(target);
      const name = await coordinatorPod(target);
      const mark = target.activities.length;
      await deletePod(target, name);
      await until(target, "coordinators have changed", async () => {
        const { status } = await clusterOf(target);
        return status?.connectionString !== undefined && status.connectionString !== before;
      });
      const status = await untilAtRest(target);
      const coordinators = status.client?.coordinators?.coordinators ?? [];
      assert.equal(coordinators.length, 3);
      assert.ok(coordinators.every(({ reachable }) => reachable));
      assert.ok(actionsSince(target, mark).includes("changeCoordinators"));
    },
  },
  {
    title: "[DB74] a killed fdbserver is started again, and the operator does nothing",
    async run(target) {
      const name = await firstStoragePod(target);
      const mark = target.activities.length;
      const before = uptimeOf(await statusOf(target), name);
      target.killServers(name);
      await until(target, "the process has started again", async () => {
        const uptime = uptimeOf(await statusOf(target), name);
        return uptime !== undefined && before !== undefined && uptime < before;
      });
      await untilAtRest(target);
      assert.deepEqual(
        actionsSince(target, mark).filter((type) => type !== "updateStatus"),
        [],
      );
    },
  },
  {
    title: "[DB75] a database without most of its coordinators is waited for, and comes back",
    async run(target) {
      const mark = target.activities.length;
      const [, ...most] = await coordinatorPods(target);
      const release = target.holdDown(most);
      await until(target, "the operator sees that the database is away", async () => {
        const { status } = await clusterOf(target);
        return status?.health?.available !== true;
      }).finally(release);
      await until(target, "the database is available again", async () => {
        const { status } = await clusterOf(target);
        return status?.health?.available === true;
      });
      await untilAtRest(target);
      const dangerous = ["killProcesses", "excludeProcesses", "changeCoordinators", "deletePod"];
      assert.deepEqual(
        actionsSince(target, mark).filter((type) => dangerous.includes(type)),
        [],
      );
    },
  },
  {
    title: "[DB76] clients that die in the middle of a replacement stop nothing",
    needs: "client-process",
    async run(target) {
      const mark = target.activities.length;
      const name = await firstStoragePod(target);
      const group = ((await clusterOf(target)).status?.processGroups ?? []).find(
        ({ processGroupID }) => name.endsWith(processGroupID),
      );
      const id = group?.processGroupID ?? "";
      await changeSpec(target, { processGroupsToRemove: [id] });
      target.crashClients?.();
      await until(target, `${id} is excluded`, async () => {
        target.crashClients?.();
        await target.pass(4);
        return actionsSince(target, mark).includes("excludeProcesses");
      });
      target.crashClients?.();
      const status = await untilAtRest(target);
      const ids = processesOf(status).map(({ locality }) => locality?.["instance_id"]);
      assert.ok(!ids.includes(id), `${id} is still there`);
    },
  },
];

type Status = Awaited<ReturnType<typeof statusOf>>;

async function firstStoragePod(target: LifeTarget): Promise<string> {
  const [pod] = await podsOf(target, "storage");
  return pod?.metadata.name ?? "";
}

/** A new pod of this name runs. */
async function deletePod(target: LifeTarget, name: string): Promise<void> {
  const key = { namespace: lifeKey.namespace, name };
  const { uid } = (await target.world.client.get(pods, key)).metadata;
  await target.world.client.delete(pods, key);
  await until(target, `there is a new pod ${name}`, async () => {
    const pod = await target.world.client.find(pods, key);
    return pod !== undefined && pod.metadata.uid !== uid && pod.status?.phase === "Running";
  });
}

function processOf(status: Status, podName: string) {
  return processesOf(status).find(({ locality }) =>
    podName.endsWith(`-${locality?.["instance_id"]}`),
  );
}

function storageIdOf(status: Status, podName: string): string | undefined {
  return processOf(status, podName)?.roles?.find(({ role }) => role === "storage")?.id;
}

function uptimeOf(status: Status, podName: string): number | undefined {
  return processOf(status, podName)?.uptime_seconds;
}

async function coordinatorPods(target: LifeTarget): Promise<string[]> {
  const { status } = await clusterOf(target);
  const all = await podsOf(target);
  const addresses = (status?.connectionString ?? "").split("@")[1]?.split(",") ?? [];
  return addresses.flatMap((address) => {
    const ip = address.split(":")[0];
    const pod = all.find(({ status: found }) => found?.podIP === ip);
    return pod?.metadata.name ?? [];
  });
}

async function coordinatorPod(target: LifeTarget): Promise<string> {
  const [name] = await coordinatorPods(target);
  return name ?? "";
}
