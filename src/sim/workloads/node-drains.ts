// Somebody takes a node away for a while, in one of the three ways by which a cluster is told to leave: `kubectl drain`, the
// taint of an autoscaler, the annotation. What the operator's budget lets kubectl evict is judged like an act of the operator.
// Rules: spec/world.md [W138].
import { randomPick } from "../../env/random.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Node, Pod } from "../../kube/generated/types.ts";
import { keyOf } from "../../kube/path.ts";
import { nodes, persistentVolumeClaims, podDisruptionBudgets, pods } from "../../kube/resource.ts";
import type { Stored } from "../../kube/resource.ts";
import { ignoringRaces } from "../faults/chaos-target.ts";
import type { LifeFault } from "./life-faults.ts";
import { namespace } from "./life-terms.ts";
import type { LifeScene } from "./life-scene.ts";

const nameLabel = "foundationdb.org/fdb-cluster-name";
const autoscalerTaint = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" };
const drainAnnotation = "foundationdb.org/drain";
/** As kubectl asks again. */
const evictionPauseMs = 5_000;

const ways = ["kubectl drain", "taint", "annotation"] as const;
type Way = (typeof ways)[number];

/** Some owners want drains to be looked after from then on, others only for this one. */
export const drained: LifeFault = async (life) => {
  const name = randomPick(life.random, life.world.kubelet.nodeNames());
  const way = randomPick(life.random, ways);
  const staysOn = life.random.next() < 0.5;
  await life.patchAll({ automationOptions: { drains: { enabled: true } } });
  await changeNode(life, name, way, true);
  let isOver = false;
  const askAll = (): void => {
    if (isOver) return;
    void evictFrom(life, name).finally(() => life.clock.setTimer(evictionPauseMs, askAll));
  };
  if (way === "kubectl drain") askAll();
  return {
    told: `${name} by ${way}`,
    async end() {
      isOver = true;
      await changeNode(life, name, way, false);
      if (!staysOn) await life.patchAll({ automationOptions: { drains: null } });
    },
  };
};

async function changeNode(
  { world: { client } }: LifeScene,
  name: string,
  way: Way,
  isLeft: boolean,
): Promise<void> {
  const node = await client.find(nodes, { name });
  if (node === undefined) return;
  const patch = {
    metadata: {
      annotations: { [drainAnnotation]: isLeft && way === "annotation" ? "true" : null },
    },
    spec: { unschedulable: isLeft ? true : null, taints: taintsOf(node, way, isLeft) },
  };
  await ignoringRaces(() => client.patch(nodes, { name }, patch, { type: "merge" }));
}

function taintsOf({ spec }: Node, way: Way, isLeft: boolean): object[] | null {
  const others = (spec?.taints ?? []).filter(({ key }) => key !== autoscalerTaint.key);
  const taints = isLeft && way === "taint" ? [...others, autoscalerTaint] : others;
  return taints.length === 0 ? null : taints;
}

/** One round of a `kubectl drain`. */
async function evictFrom(life: LifeScene, node: string): Promise<void> {
  const { client } = life.world;
  const here = (await client.list(pods, { labelSelector: nameLabel })).items;
  for (const pod of here) {
    const { metadata, spec, status } = pod;
    if (spec?.nodeName !== node || metadata.deletionTimestamp !== undefined) continue;
    // Before the operator has a budget nobody would ask it: whoever drains then has not waited for it.
    if (status?.phase !== "Running" || !(await hasBudget(life, pod))) continue;
    // A volume whose claim somebody deleted goes with the pod, and with it what others count on.
    if (await areClaimsDoomed(life)) continue;
    await life.watchman.inspectEviction(metadata.name ?? "", () => evict(life, pod));
  }
}

/** Whether it was let through. */
async function evict({ world: { client } }: LifeScene, pod: Stored<Pod>): Promise<boolean> {
  try {
    await client.evictPod(keyOf(pod));
    return true;
  } catch (error) {
    if (isKubeError(error, "TooManyRequests") || isKubeError(error, "NotFound")) return false;
    if (isKubeError(error, "Conflict")) return false;
    throw error;
  }
}

async function hasBudget({ world: { client } }: LifeScene, { metadata }: Stored<Pod>) {
  const name = metadata.labels?.[nameLabel] ?? "";
  const budget = await client.find(podDisruptionBudgets, { namespace, name });
  return budget !== undefined && budget.metadata.deletionTimestamp === undefined;
}

async function areClaimsDoomed({ world: { client } }: LifeScene): Promise<boolean> {
  const { items } = await client.list(persistentVolumeClaims, { labelSelector: nameLabel });
  return items.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
}
