// What a walk's troubles share: the world, the generator, what is broken at the moment, and how things to break are
// chosen.
import { append } from "../../env/long-lists.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { KubeObject } from "../../kube/object.ts";
import { pods } from "../../kube/resource.ts";
import type { Resource, Stored } from "../../kube/resource.ts";
import type { World } from "../world.ts";
import type { OperatorLinks } from "./operator-links.ts";

export interface ChaosParts {
  world: World;
  random: Random;
  /** Only objects with this label are touched. */
  labelKey: string;
  /** Only those of these clusters, when there are others that are to be left in peace. */
  clusterNames?: readonly string[];
  /** Between the operator and the world. */
  links: OperatorLinks;
}

export interface ChaosTarget extends ChaosParts {
  /** Names of nodes without power. */
  stoppedNodes: Set<string>;
  /** Addresses that nobody reaches. */
  cutAddresses: Set<string>;
  /** Nodes that took the place of removed ones. */
  newNodes: number;
}

/** Makes one trouble; what was hit, as a person reads it. */
export type TroubleMaker = (target: ChaosTarget) => Promise<string>;

export async function listOf<T extends KubeObject>(
  { world, labelKey, clusterNames }: ChaosTarget,
  resource: Resource<T>,
): Promise<T[]> {
  const among = clusterNames === undefined ? "" : ` in (${clusterNames.join(",")})`;
  return (await world.client.list(resource, { labelSelector: `${labelKey}${among}` })).items;
}

export async function pickOne<T extends KubeObject>(
  target: ChaosTarget,
  resource: Resource<T>,
): Promise<T | undefined> {
  const found = await listOf(target, resource);
  return found.length === 0 ? undefined : randomPick(target.random, found);
}

/** So many pods in random order; fewer when there are not so many. */
export async function pickPods(target: ChaosTarget, count: number): Promise<Stored<Pod>[]> {
  const found = await listOf(target, pods);
  const chosen: Stored<Pod>[] = [];
  while (chosen.length < count && found.length > 0) {
    append(chosen, found.splice(randomInteger(target.random, 0, found.length - 1), 1));
  }
  return chosen;
}

/** Somebody may have been quicker, which is nobody's fault. */
export async function ignoringRaces(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isKubeError(error, "NotFound") && !isKubeError(error, "Conflict")) throw error;
  }
}

export function namesOf(objects: readonly KubeObject[]): string {
  return objects.length === 0 ? "none" : objects.map(({ metadata }) => metadata.name).join(" ");
}
