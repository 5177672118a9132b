// Everything bad that a random walk does to a world, by name, and what heals it all. What it does is drawn from the given
// generator alone. Rules: spec/world.md [W62].
import { randomInteger } from "../../env/random.ts";
import type { ChaosParts, ChaosTarget, TroubleMaker } from "./chaos-target.ts";
import * as node from "./node-troubles.ts";
import * as object from "./object-troubles.ts";
import * as pod from "./pod-troubles.ts";

const makers = {
  "delete pod": pod.deletePod,
  "delete several pods": pod.deleteSeveralPods,
  "kill pod without grace": pod.killPod,
  "evict pod": pod.evictPod,
  "crash processes": pod.crashProcesses,
  "stop node": node.stopNode,
  "start node": node.startNode,
  "remove node": node.removeNode,
  "cut network": pod.cutNetwork,
  "heal network": pod.healNetwork,
  "spoil labels": object.spoilLabels,
  "delete ConfigMap": object.deleteConfigMap,
  "spoil ConfigMap": object.spoilConfigMap,
  "delete service": object.deleteService,
  "bad road": (target) => setRoad(target, badChance(target)),
  "good road": (target) => setRoad(target, 0),
  "slow database": (target) => setDatabase(target, badChance(target)),
  "quick database": (target) => setDatabase(target, 0),
  "compact history": compactHistory,
  "restart operator": restartOperator,
  "crash operator": crashOperator,
  "wipe status": object.wipeStatus,
  "forget connection string": object.forgetConnectionString,
  "swap labels": pod.swapLabels,
  "hold pod": pod.holdPod,
  "cordon node": node.cordonNode,
  "uncordon nodes": node.uncordonNodes,
  "lose volume claim": pod.loseVolumeClaim,
  "delete claims in use": pod.deleteClaims,
  "grow class": object.growClass,
  "change configuration": object.changeConfiguration,
} as const satisfies Record<string, TroubleMaker>;

export type Trouble = keyof typeof makers;

/** After these a pod may be gone, and with it a claim that only the pod held back. */
const endsPods: ReadonlySet<Trouble> = new Set<Trouble>([
  "delete pod",
  "delete several pods",
  "kill pod without grace",
  "evict pod",
  "stop node",
  "remove node",
  "hold pod",
]);

export const troubles = Object.keys(makers) as Trouble[];

export class Chaos {
  readonly #target: ChaosTarget;

  constructor(parts: ChaosParts) {
    this.#target = { ...parts, stoppedNodes: new Set(), cutAddresses: new Set(), newNodes: 0 };
  }

  /** Makes one trouble; what was hit, as a person reads it. */
  async make(trouble: Trouble): Promise<string> {
    if (endsPods.has(trouble) && (await pod.areClaimsDoomed(this.#target))) {
      return "none, since the data would go with the pods";
    }
    return makers[trouble](this.#target);
  }

  /** Whether something is broken that does not pass by itself. */
  get isOngoing(): boolean {
    const { stoppedNodes, cutAddresses } = this.#target;
    return stoppedNodes.size + cutAddresses.size > 0;
  }

  /** A pod on a node that is stopped never goes. */
  async startNodes(): Promise<void> {
    await node.startNodes(this.#target, Infinity);
  }

  async releasePods(): Promise<void> {
    await pod.releasePods(this.#target);
  }

  /** Takes back everything that would not pass by itself. */
  async heal(): Promise<void> {
    const target = this.#target;
    await setRoad(target, 0);
    await setDatabase(target, 0);
    await pod.healNetwork(target);
    await this.startNodes();
    await node.uncordonNodes(target);
    await this.releasePods();
  }
}

function badChance({ random }: ChaosTarget): number {
  return randomInteger(random, 1, 5) / 10;
}

async function setRoad({ links }: ChaosTarget, chance: number): Promise<string> {
  links.roadFailureChance = chance;
  return String(chance);
}

async function setDatabase({ links }: ChaosTarget, chance: number): Promise<string> {
  links.slowAnswerChance = chance;
  return String(chance);
}

async function compactHistory({ world }: ChaosTarget): Promise<string> {
  world.server.compact();
  return "";
}

async function restartOperator({ world }: ChaosTarget): Promise<string> {
  await world.stopOperator();
  world.startOperator();
  return "";
}

/** A crashed operator says nothing more: even what it has under way does not arrive. */
async function crashOperator(target: ChaosTarget): Promise<string> {
  target.links.life.die();
  return restartOperator(target);
}
