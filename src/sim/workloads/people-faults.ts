// What people do to a cluster that is no wish of its spec's: they tell the operator to leave it alone or to do less, let the
// database sleep, fence processes, name many process groups for removal at once, set maintenance mode or announce it, taint
// nodes, hold claims by a finalizer, delete the headless service.
// Rules: spec/world.md [W113].
import { foundationDbClusters } from "../../api/cluster.ts";
import { hibernationConsents } from "../../api/hibernation.ts";
import type { AutomationOptions } from "../../api/automation-options.ts";
import { maintenanceWindowsOf, urgentGeneration } from "../../api/maintenance-windows.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { AdminClient } from "../../fdb/admin.ts";
import { isFdbError } from "../../fdb/error.ts";
import { operatorKeys } from "../../fdb/keys.ts";
import { addToMaintenanceList, personsMark } from "../../fdb/maintenance-list.ts";
import { keyOf } from "../../kube/path.ts";
import { nodes, persistentVolumeClaims, services } from "../../kube/resource.ts";
import { ignoringRaces } from "../faults/chaos-target.ts";
import { isOfCopy } from "./backups/backup-writes.ts";
import type { LifeFault } from "./life-faults.ts";
import type { LifeScene } from "./life-scene.ts";
import { claimHolder, minuteMs, namespace } from "./life-terms.ts";
import { takenBack } from "./spec-changes.ts";

/** By then the operator has seen it, however late its watches are, and what was under way has ended. */
const noticedMs = 2 * minuteMs;
/** Of a question to the database. */
const timeoutMs = 10_000;

/** While spec.skip is true nothing is written but that it is so. */
export const paused: LifeFault = async (life) => {
  await life.patchAll({ skip: true });
  const sinceMs = life.clock.nowMs() + noticedMs;
  return {
    told: "",
    async end() {
      // That it is so may be told again, when somebody has wiped the status for example.
      const writes = life
        .writesSince(sinceMs)
        .filter((write) => !write.startsWith("update foundationdbclusters "))
        // The second cluster of lives with backups goes on.
        .filter((write) => !isOfCopy(write));
      if (writes.length > 0) throw new Error(`writes while skip is true: ${writes.join(", ")}`);
      await life.patchAll({ skip: null });
    },
  };
};

/** The database is to sleep, whatever else is wished or goes wrong meanwhile; later somebody wakes it. */
export const asleep: LifeFault = async (life) => {
  const isShared = life.shape.members.length > 1;
  const hibernateDespite = hibernationConsents.filter(
    (consent) => isShared || consent !== "SharedDatabase",
  );
  await life.patchAll({ hibernate: true, hibernateDespite });
  return {
    told: "",
    async end() {
      await life.patchAll({ hibernate: null, hibernateDespite: null });
    },
  };
};

/** Less than usual, of what it may do by itself. */
const ties: readonly AutomationOptions[] = [
  { killProcesses: false },
  { configureDatabase: false },
  { deletionMode: "None" },
  { removalMode: "None" },
  { maxConcurrentReplacements: 0 },
  { replacements: { enabled: false } },
  { replacements: { maxConcurrentReplacements: 0 } },
  { replacements: { replacementBucket: { storage: 0, log: 0, stateless: 0 } } },
];

/** Somebody ties the operator's hands, and lets it go on later. */
export const tied: LifeFault = async (life) => {
  const less = randomPick(life.random, ties);
  const { spec } = await life.cluster();
  const before = takenBack(less, spec.automationOptions ?? {});
  await life.patchAll({ automationOptions: less });
  return {
    told: JSON.stringify(less),
    end: () => life.patchAll({ automationOptions: before }),
  };
};

/** Some process groups, often more than the database could lose, and perhaps one that is not there; later the fence is taken back. */
export const fenced: LifeFault = async (life) => {
  const { name } = randomPick(life.random, life.shape.members);
  const { status } = await life.cluster(name);
  const ids = (status?.processGroups ?? []).map((group) => group.processGroupID);
  if (ids.length === 0) return undefined;
  const chosen = new Set<string>();
  for (let count = randomInteger(life.random, 1, 3); count > 0; count -= 1) {
    chosen.add(randomPick(life.random, ids));
  }
  if (life.random.next() < 0.2) chosen.add("storage-0");
  await life.patch(name, { fence: [...chosen] });
  return {
    told: `of ${name}: ${[...chosen].join(" ")}`,
    async end() {
      await life.patch(name, { fence: null });
    },
  };
};

/** What is wished now is not to wait for a window; what is wished later waits again. */
export const urgent: LifeFault = async (life) => {
  const { name } = randomPick(life.random, life.shape.members);
  const { metadata, spec } = await life.cluster(name);
  if (maintenanceWindowsOf(spec).length === 0) return undefined;
  const annotations = { [urgentGeneration]: String(metadata.generation ?? 0) };
  const patch = { metadata: { annotations } };
  const key = { namespace, name };
  await life.world.client.patch(foundationDbClusters, key, patch, { type: "merge" });
  return { told: `generation ${metadata.generation ?? 0} of ${name}` };
};

/** Pods are to have addresses of another IP family; often somebody takes it back, done or not. */
export const otherFamily: LifeFault = async (life) => {
  const { spec } = await life.cluster();
  const { podIPFamily: before = null } = spec.routing ?? {};
  const podIPFamily = randomPick(
    life.random,
    ([4, 6] as const).filter((family) => family !== before),
  );
  const isTakenBack = life.random.next() < 0.6;
  await life.patchAll({ routing: { podIPFamily } });
  return {
    told: String(podIPFamily),
    ...(isTakenBack && { end: () => life.patchAll({ routing: { podIPFamily: before } }) }),
  };
};

/** More than could leave together. */
export const manyRemovals: LifeFault = async (life) => {
  const { name } = randomPick(life.random, life.shape.members);
  const { status, spec } = await life.cluster(name);
  const staying = (status?.processGroups ?? []).filter((group) => !group.removalTimestamp);
  const ids = staying.map((group) => group.processGroupID);
  const chosen: string[] = [];
  for (let count = randomInteger(life.random, 3, 6); count > 0 && ids.length > 0; count -= 1) {
    const [id = ""] = ids.splice(randomInteger(life.random, 0, ids.length - 1), 1);
    chosen.push(id);
  }
  if (chosen.length === 0) return undefined;
  const before = spec.processGroupsToRemove ?? [];
  await life.patch(name, { processGroupsToRemove: [...before, ...chosen] });
  return { told: `of ${name}: ${chosen.join(" ")}` };
};

/** The operator neither ends it nor counts it as its own, and goes on when its time is over. */
export const maintenance: LifeFault = (life) =>
  onDatabase(life, async (admin) => {
    const { cluster } = await admin.status(timeoutMs);
    const zones = Object.values(cluster?.processes ?? {})
      .flatMap(({ locality }) => locality?.["zoneid"] ?? [])
      .sort();
    if (zones.length === 0) return undefined;
    return beginMaintenance(life, admin, randomPick(life.random, zones));
  });

/** As `kubectl fdb maintenance start` does it: no operator ends it before all is back, or its time is over. */
export const announced: LifeFault = (life) =>
  onDatabase(life, async (admin) => {
    const { cluster } = await admin.status(timeoutMs);
    const storage = Object.values(cluster?.processes ?? {})
      .filter((process) => process.class_type === "storage")
      .map(({ locality }) => [locality?.["zoneid"] ?? "", locality?.["instance_id"] ?? ""] as const)
      .sort(([left], [right]) => (left < right ? -1 : 1));
    if (storage.length === 0 || (cluster?.maintenance_zone ?? "") !== "") return undefined;
    const [zone] = randomPick(life.random, storage);
    const ids = storage.filter(([each]) => each === zone).map(([, id]) => id);
    const nowSeconds = Math.floor(life.clock.nowMs() / 1000);
    const shared = { admin, keys: operatorKeys(), timeoutMs };
    await addToMaintenanceList(shared, [personsMark(zone), ...ids], nowSeconds);
    return beginMaintenance(life, admin, zone);
  });

async function beginMaintenance(
  life: LifeScene,
  admin: AdminClient,
  zone: string,
): ReturnType<LifeFault> {
  const seconds = randomPick(life.random, [60, 300, 900]);
  await admin.setMaintenanceZone(zone, seconds, timeoutMs);
  life.endsBy(life.clock.nowMs() + (seconds + 120) * 1000);
  return { told: `of ${zone} for ${seconds} s` };
}

/** A database that does not answer is left alone. */
async function onDatabase(
  life: LifeScene,
  act: (admin: AdminClient) => ReturnType<LifeFault>,
): ReturnType<LifeFault> {
  const admin = await life.openAdmin();
  try {
    return await act(admin);
  } catch (error) {
    if (isFdbError(error)) return undefined;
    throw error;
  } finally {
    admin.close();
  }
}

const taintKey = "walk.foundationdb.org/full";

/** New pods go elsewhere; those that run stay. */
export const taint: LifeFault = async (life) => {
  const { client, kubelet } = life.world;
  const name = randomPick(life.random, kubelet.nodeNames());
  const change = async (isTainted: boolean): Promise<void> => {
    const node = await client.find(nodes, { name });
    if (node === undefined) return;
    const others = (node.spec?.taints ?? []).filter(({ key }) => key !== taintKey);
    const ours = { key: taintKey, effect: "NoSchedule" };
    const taints = isTainted ? [...others, ours] : others;
    const patch = { spec: { taints: taints.length === 0 ? null : taints } };
    await ignoringRaces(() => client.patch(nodes, { name }, patch, { type: "merge" }));
  };
  await change(true);
  return { told: name, end: () => change(false) };
};

/** A claim that cannot go: its process group is not forgotten before it has. */
export const heldClaim: LifeFault = async (life) => {
  const { client } = life.world;
  const found = (await client.list(persistentVolumeClaims)).items;
  if (found.length === 0) return undefined;
  const chosen = randomPick(life.random, found);
  const setHolder = (isHeld: boolean): Promise<void> =>
    ignoringRaces(async () => {
      const claim = await client.find(persistentVolumeClaims, keyOf(chosen));
      // What is being deleted takes no new finalizer.
      if (claim === undefined || (isHeld && claim.metadata.deletionTimestamp !== undefined)) return;
      const others = (claim.metadata.finalizers ?? []).filter((each) => each !== claimHolder);
      const patch = { metadata: { finalizers: isHeld ? [...others, claimHolder] : others } };
      await client.patch(persistentVolumeClaims, keyOf(chosen), patch, { type: "merge" });
    });
  await setHolder(true);
  return { told: chosen.metadata.name ?? "", end: () => setHolder(false) };
};

/** Names of pods then resolve to nothing until it is back. */
export const lostService: LifeFault = async (life) => {
  const { client } = life.world;
  const found = (await client.list(services)).items;
  const headless = found.filter(({ spec }) => spec?.clusterIP === "None");
  if (headless.length === 0) return undefined;
  const chosen = randomPick(life.random, headless);
  const name = chosen.metadata.name ?? "";
  life.watchman.noteDisturbance();
  await ignoringRaces(() => client.delete(services, keyOf(chosen)));
  // It lasts until the operator has made it again, which other faults may delay.
  life.lostServices.add(name);
  return { told: name };
};
