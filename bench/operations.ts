// What people do to a running cluster and what happens to it: the changes that are measured, in the
// order in which one cluster sees them.
import { foundationDbClusters } from "../src/api/cluster.ts";
import { pods } from "../src/kube/resource.ts";
import { coordinatorsOf } from "../src/model/connection-string.ts";
import type { World } from "../src/sim/world.ts";
import { clusterKey, sampleCluster } from "./sample-cluster.ts";

export type OperationId =
  | "knob"
  | "grow"
  | "shrink"
  | "replace"
  | "deleteStorage"
  | "deleteCoordinator"
  | "patchUpgrade"
  | "incompatibleUpgrade";

export interface Operation {
  id: OperationId;
  name: (groups: number) => string;
  start: (world: World, groups: number) => Promise<unknown>;
}

/** Operations that one cluster sees one after the other, with a rest between them. */
export interface Life {
  version: string;
  operations: readonly Operation[];
}

const addedStorage = 2;

export const lives: readonly Life[] = [
  {
    version: "7.3.27",
    operations: [
      {
        id: "knob",
        name: () => "knob change",
        start: (world) =>
          changeSpec(world, {
            processes: { general: { customParameters: ["knob_max_outstanding=64"] } },
          }),
      },
      {
        id: "grow",
        name: (groups) => `storage ${storageOf(groups)} to ${storageOf(groups) + addedStorage}`,
        start: (world, groups) => setStorage(world, storageOf(groups) + addedStorage),
      },
      {
        id: "shrink",
        name: (groups) => `storage ${storageOf(groups) + addedStorage} to ${storageOf(groups)}`,
        start: (world, groups) => setStorage(world, storageOf(groups)),
      },
      { id: "replace", name: () => "replace a storage process group", start: replaceStorage },
      {
        id: "deleteStorage",
        name: () => "delete a storage pod",
        start: async (world) => deletePod(world, (await victims(world)).storage),
      },
      {
        id: "deleteCoordinator",
        name: () => "delete a coordinator's pod",
        start: async (world) => deletePod(world, (await victims(world)).coordinator),
      },
      {
        id: "patchUpgrade",
        name: () => "patch upgrade",
        start: (world) => changeSpec(world, { version: "7.3.63" }),
      },
    ],
  },
  {
    version: "7.1.57",
    operations: [
      {
        id: "incompatibleUpgrade",
        name: () => "incompatible upgrade",
        start: (world) => changeSpec(world, { version: "7.3.63" }),
      },
    ],
  },
];

/** At 20 process groups the three storage servers of the figures to compare with. */
export function clusterForOperations(groups: number, version: string) {
  const cluster = sampleCluster(groups);
  const { log = 0 } = cluster.spec.processCounts ?? {};
  const storage = storageOf(groups);
  const processCounts = { storage, log, stateless: groups - storage - log };
  return { ...cluster, spec: { ...cluster.spec, version, processCounts } };
}

function storageOf(groups: number): number {
  return groups < 100 ? 3 : (sampleCluster(groups).spec.processCounts?.storage ?? 0);
}

function changeSpec(world: World, spec: object): Promise<unknown> {
  return world.client.patch(foundationDbClusters, clusterKey, { spec }, { type: "merge" });
}

function setStorage(world: World, storage: number): Promise<unknown> {
  return changeSpec(world, { processCounts: { storage } });
}

async function replaceStorage(world: World): Promise<unknown> {
  const { storage } = await victims(world);
  return changeSpec(world, { processGroupsToRemove: [storage] });
}

async function deletePod(world: World, id: string): Promise<unknown> {
  const labelSelector = `foundationdb.org/fdb-process-group-id=${id}`;
  const { namespace } = clusterKey;
  const { items } = await world.client.list(pods, { namespace, labelSelector });
  const [name] = items.map(({ metadata }) => metadata.name);
  if (name === undefined) throw new Error(`process group ${id} has no pod`);
  return world.client.delete(pods, { namespace, name });
}

interface Victims {
  /** A storage process group; no coordinator where one is left that is none. */
  storage: string;
  /** A coordinator; the operator prefers logs for them. */
  coordinator: string;
}

async function victims(world: World): Promise<Victims> {
  const { status } = await world.client.get(foundationDbClusters, clusterKey);
  const coordinators = coordinatorsOf(status?.connectionString ?? "");
  const groups = (status?.processGroups ?? []).map((group) => ({
    id: group.processGroupID,
    isStorage: group.processClass === "storage",
    isCoordinator: coordinators.some((coordinator) =>
      [`${clusterKey.name}-${group.processGroupID}.`, ...portsOf(group.addresses)].some((start) =>
        coordinator.startsWith(start),
      ),
    ),
  }));
  const ofStorage = groups.filter(({ isStorage }) => isStorage);
  const storage = ofStorage.find(({ isCoordinator }) => !isCoordinator) ?? ofStorage[0];
  const coordinator = groups.find(({ isCoordinator }) => isCoordinator);
  if (storage === undefined || coordinator === undefined) {
    throw new Error("the cluster has no storage process group or no coordinator");
  }
  return { storage: storage.id, coordinator: coordinator.id };
}

function portsOf(addresses: readonly string[] = []): string[] {
  return addresses.map((address) => `${address}:`);
}
