// A picture of a cluster in a simulated world, without credentials and without a network: for tests of previews.
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import {
  configMaps,
  networkPolicies,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  secrets,
  serviceAccounts,
  services,
  storageClasses,
} from "../../src/kube/resource.ts";
import type { Resource } from "../../src/kube/resource.ts";
import type { Picture } from "../../src/preview/picture.ts";
import { readPicture } from "../../src/preview/picture.ts";
import { minuteMs } from "../world/world-harness.ts";
import type { ClusterName, TestWorld } from "../world/world-harness.ts";

const kinds = [
  ...[nodes, storageClasses, persistentVolumes, configMaps, secrets, services],
  ...[serviceAccounts, persistentVolumeClaims, podDisruptionBudgets, networkPolicies, pods],
] as unknown as readonly Resource<KubeObject>[];

export async function pictureOf(
  world: TestWorld,
  { name = "sample", namespace = "default" }: ClusterName = {},
): Promise<Picture> {
  const cluster = await world.client.get(foundationDbClusters, { namespace, name });
  const objects: KubeObject[] = [];
  for (const kind of kinds) {
    const { items } = await world.client.list(kind, kind.isNamespaced ? { namespace } : {});
    for (const item of items) {
      objects.push({ ...item, apiVersion: item.apiVersion ?? "v1", kind: kind.kind });
    }
  }
  const takenAt = new Date(world.clock.nowMs()).toISOString();
  const databaseStatus = await statusOf(world, cluster.status?.connectionString ?? "");
  const reading = readPicture(
    // As it would come back from files.
    JSON.parse(
      JSON.stringify({
        ...{ format: 1, takenAt, cluster, objects, databaseStatus, otherRequests: [], left: [] },
        versions: { plugin: "test" },
      }),
    ),
  );
  if ("problems" in reading) throw new Error(JSON.stringify(reading.problems));
  return reading.picture;
}

async function statusOf(world: TestWorld, connectionString: string): Promise<unknown> {
  const version = "7.3.63";
  const admin = world.world.fdb.admin.open({ name: "picture", connectionString, version });
  const status = await world.during(admin.status(60_000), minuteMs, "the status");
  admin.close();
  return status;
}
