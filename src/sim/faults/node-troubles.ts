// Trouble with nodes: without power, gone for good, closed to new pods.
import { randomPick } from "../../env/random.ts";
import { nodes } from "../../kube/resource.ts";
import { ignoringRaces } from "./chaos-target.ts";
import type { ChaosTarget, TroubleMaker } from "./chaos-target.ts";

export const stopNode: TroubleMaker = async ({ world, random, stoppedNodes }) => {
  const running = world.kubelet.nodeNames().filter((name) => !stoppedNodes.has(name));
  if (running.length < 2) return "none";
  const name = randomPick(random, running);
  stoppedNodes.add(name);
  await world.kubelet.stopNode(name);
  return name;
};

export const startNode: TroubleMaker = (target) => startNodes(target, 1);

export async function startNodes(
  { world, stoppedNodes }: ChaosTarget,
  count: number,
): Promise<string> {
  const chosen = [...stoppedNodes].slice(0, count);
  for (const name of chosen) {
    stoppedNodes.delete(name);
    await world.kubelet.startNode(name);
  }
  return chosen.join(" ");
}

/** A node is gone for good; a new one takes its place in the zone, since volumes do not leave theirs. */
export const removeNode: TroubleMaker = async (target) => {
  const { world, random } = target;
  const name = randomPick(random, world.kubelet.nodeNames());
  const node = await world.client.find(nodes, { name });
  const zone = node?.metadata.labels?.["topology.kubernetes.io/zone"];
  await world.kubelet.removeNode(name);
  target.stoppedNodes.delete(name);
  target.newNodes += 1;
  await world.kubelet.addNode({
    name: `new-node-${target.newNodes}`,
    ...(zone === undefined ? {} : { zone }),
  });
  return name;
};

export const cordonNode: TroubleMaker = async (target) => {
  const name = randomPick(target.random, target.world.kubelet.nodeNames());
  await setSchedulable(target, name, false);
  return name;
};

export const uncordonNodes: TroubleMaker = async (target) => {
  for (const name of target.world.kubelet.nodeNames()) await setSchedulable(target, name, true);
  return "";
};

async function setSchedulable(
  { world }: ChaosTarget,
  name: string,
  isSchedulable: boolean,
): Promise<void> {
  const patch = { spec: { unschedulable: isSchedulable ? null : true } };
  await ignoringRaces(() => world.client.patch(nodes, { name }, patch, { type: "merge" }));
}
