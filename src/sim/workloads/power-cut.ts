// A power cut: all pods of the database are gone at once, with what ran in them; disks and objects stay. It comes back by
// itself, also in the middle of a change of the IP family. Rules: spec/world.md [W143].
import { coordinatorsOf } from "../../model/connection-string.ts";
import { hostOf } from "../../model/address.ts";
import { keyOf } from "../../kube/path.ts";
import { pods } from "../../kube/resource.ts";
import { ignoringRaces } from "../faults/chaos-target.ts";
import type { LifeFault } from "./life-faults.ts";
import type { LifeScene } from "./life-scene.ts";
import { namespace } from "./life-terms.ts";

const nameLabel = "foundationdb.org/fdb-cluster-name";

export const powerCut: LifeFault = async (life) => {
  const { client } = life.world;
  const labelSelector = `${nameLabel} in (${life.shape.members.map(({ name }) => name).join(",")})`;
  const { items } = await client.list(pods, { namespace, labelSelector });
  const hosts = new Set(items.flatMap(({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip)));
  // Nobody finds coordinators again that are known by addresses of pods: that takes a person.
  if (
    life.shape.isCalm ||
    items.length === 0 ||
    coordinatorHosts(life).some((host) => hosts.has(host))
  ) {
    return undefined;
  }
  life.watchman.noteDisturbance();
  life.isLost = true;
  for (const pod of items) {
    await ignoringRaces(() => client.delete(pods, keyOf(pod), { gracePeriodSeconds: 0 }));
  }
  return { told: `of ${items.length} pods` };
};

function coordinatorHosts({ world }: LifeScene): string[] {
  return world.fdb.truth
    .databases()
    .flatMap(({ connectionString }) => coordinatorsOf(connectionString))
    .map(hostOf);
}
