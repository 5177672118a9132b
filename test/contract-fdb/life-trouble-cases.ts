// What happens to a cluster without anybody wanting it.
import assert from "node:assert/strict";
import { pods } from "../../src/kube/resource.ts";
import {
  actionsSince,
  attemptsSince,
  changeSpec,
  clusterOf,
  coordinatorPods,
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
      assert.notEqual(before, undefined, "a storage server");
      const ip = await deletePod(target, name);
      // The old process is listed for a while, and the new one before its role.
      let after: string | undefined;
      await until(target, "the new process serves its data", async () => {
        const status = await statusOf(target).catch(() => undefined);
        after = status && storageIdOf(status, name, ip);
        return after !== undefined;
      });
      assert.equal(after, before, "the storage server is another one");
      await untilAtRest(target);
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
      await untilAtRest(target);
      // On a busy machine a coordinator may miss a single question.
      await until(target, "three coordinators answer", async () => {
        const status = await statusOf(target).catch(() => undefined);
        const coordinators = status?.client?.coordinators?.coordinators ?? [];
        return coordinators.length === 3 && coordinators.every(({ reachable }) => reachable);
      });
      // The answer to the command may have come too late; that the coordinators are others was seen.
      assert.ok(attemptsSince(target, mark).includes("changeCoordinators"));
    },
  },
  {
    title: "[DB74] a killed fdbserver is started again, and the operator does nothing",
    async run(target) {
      const name = await podBesideCoordinators(target);
      // Uptimes are told late. What began long before cannot be taken for what began just now.
      await until(target, "the process has run for a while", async () => {
        const beganMs = await beginningOf(target, name);
        return beganMs !== undefined && target.world.clock.nowMs() - beganMs > 2 * latenessMs;
      });
      const mark = target.activities.length;
      const killedMs = target.world.clock.nowMs();
      target.killServers(name);
      await until(target, "the process has started again", async () => {
        const beganMs = await beginningOf(target, name);
        return beganMs !== undefined && beganMs > killedMs - latenessMs;
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

/** A coordinator that is away for long gives way to another one; this pod may take its time to come back. */
async function podBesideCoordinators(target: LifeTarget): Promise<string> {
  const coordinators = await coordinatorPods(target);
  const candidates = [...(await podsOf(target, "storage")), ...(await podsOf(target, "stateless"))];
  const names = candidates.map(({ metadata: { name = "" } }) => name);
  const found = names.find((name) => !coordinators.includes(name));
  assert.ok(found !== undefined, "a pod that is no coordinator");
  return found;
}

/** How late a status tells of an uptime, on a busy machine. */
const latenessMs = 15_000;

/** By the uptime of the newest process in the pod; undefined while no status shows one. */
async function beginningOf(target: LifeTarget, podName: string): Promise<number | undefined> {
  const askedMs = target.world.clock.nowMs();
  const status = await statusOf(target).catch(() => undefined);
  const uptime = status && processOf(status, podName)?.uptime_seconds;
  return uptime === undefined ? undefined : askedMs - uptime * 1000;
}

/** A new pod of this name runs; its address. */
async function deletePod(target: LifeTarget, name: string): Promise<string> {
  const key = { namespace: lifeKey.namespace, name };
  const { uid } = (await target.world.client.get(pods, key)).metadata;
  await target.world.client.delete(pods, key);
  let ip = "";
  await until(target, `there is a new pod ${name}`, async () => {
    const pod = await target.world.client.find(pods, key);
    ip = pod?.status?.podIP ?? "";
    return pod !== undefined && pod.metadata.uid !== uid && pod.status?.phase === "Running";
  });
  return ip;
}

/** The process of a pod, at this address or at any. */
function processOf(status: Status, podName: string, ip?: string) {
  return processesOf(status).find(
    ({ locality, address }) =>
      podName.endsWith(`-${locality?.["instance_id"]}`) &&
      (ip === undefined || address?.startsWith(`${ip}:`)),
  );
}

function storageIdOf(status: Status, podName: string, ip?: string): string | undefined {
  return processOf(status, podName, ip)?.roles?.find(({ role }) => role === "storage")?.id;
}

async function coordinatorPod(target: LifeTarget): Promise<string> {
  const [name] = await coordinatorPods(target);
  return name ?? "";
}
