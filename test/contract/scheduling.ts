// Where the scheduler puts a pod, and how it explains that it puts it nowhere: helpers of those cases.
import assert from "node:assert/strict";
import { node, pod } from "./samples.ts";
import { asList, at, itemsOf } from "./target.ts";
import type { Json, Target } from "./target.ts";

export interface NodeSketch {
  zone?: string;
  labels?: Json;
  capacity?: Json;
  taints?: Json[];
  unschedulable?: boolean;
}

/** The nodes of a case under their short names; their real names are of this case alone. */
export async function makeNodes(
  target: Target,
  sketches: Record<string, NodeSketch>,
): Promise<void> {
  for (const [name, sketch] of Object.entries(sketches)) {
    const labels = {
      name,
      ...(sketch.zone === undefined ? {} : { "topology.kubernetes.io/zone": sketch.zone }),
      ...sketch.labels,
    };
    const spec = { taints: sketch.taints, unschedulable: sketch.unschedulable };
    await target.create(
      target.path("nodes"),
      node(target.unique(name), labels, sketch.capacity, spec),
    );
  }
  await untilNodesAreSeen(target, Object.keys(sketches).length);
}

/** A pod that fits nowhere is told how many nodes the scheduler knows. */
async function untilNodesAreSeen(target: Target, count: number): Promise<void> {
  for (let probe = 0; probe < 100; probe += 1) {
    const nodeSelector = { "example.com/probe": "none" };
    await target.create(target.path("pods"), pod(`probe-${probe}`, { nodeSelector }));
    const message = await unschedulableMessage(target, `probe-${probe}`);
    await target.delete(target.path("pods", `probe-${probe}`), { gracePeriodSeconds: 0 });
    if (message.startsWith(`0/${count} nodes`)) return;
    await target.pause();
  }
  throw new Error(`the scheduler never saw exactly ${count} nodes`);
}

export async function unschedulableMessage(target: Target, name: string): Promise<string> {
  return target.eventually(`pod ${name} is unschedulable`, async () => {
    const found = await target.get(target.path("pods", name));
    const condition = asList(at(found, "status.conditions")).find(
      (each) => at(each, "type") === "PodScheduled",
    );
    if (condition === undefined) return undefined;
    assert.equal(at(condition, "status"), "False", JSON.stringify(condition));
    const isJudged = at(condition, "reason") === "Unschedulable";
    return isJudged ? String(at(condition, "message")) : undefined;
  });
}

/** Creates the pod and gives the short name of the node that it was put on. */
export async function place(
  target: Target,
  name: string,
  spec: Json = {},
  labels: Json = {},
): Promise<string> {
  await target.create(target.path("pods"), pod(name, spec, { labels }));
  return placed(target, name);
}

export async function placed(target: Target, name: string): Promise<string> {
  const nodeName = await target.eventually(`pod ${name} is placed`, async () => {
    const found = await target.get(target.path("pods", name));
    const chosen = at(found, "spec.nodeName");
    return typeof chosen === "string" ? chosen : undefined;
  });
  return nodeName.replace(`-${target.namespace}`, "");
}

/** Creates the pod and checks how the scheduler explains that it fits nowhere. */
export async function refuses(
  target: Target,
  name: string,
  spec: Json,
  message: string,
  labels: Json = {},
): Promise<void> {
  await target.create(target.path("pods"), pod(name, spec, { labels }));
  await target
    .eventually(`"${message}" of pod ${name}`, async () => {
      const found = await unschedulableMessage(target, name);
      if (found === message) return true;
      lastMessages.set(target, found);
      return undefined;
    })
    .catch((error: unknown) => {
      assert.equal(lastMessages.get(target), message);
      throw error;
    });
}

const lastMessages = new WeakMap<Target, string>();

/** Leaves an empty cluster behind, since the next case counts the nodes that it sees. */
export async function clearCluster(target: Target): Promise<void> {
  for (const found of itemsOf(await target.get("/api/v1/pods"))) {
    const path = `/api/v1/namespaces/${String(at(found, "metadata.namespace"))}/pods/`;
    await target.send("DELETE", path + String(at(found, "metadata.name")), {
      apiVersion: "v1",
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
    });
  }
  await target.send("DELETE", target.path("nodes"));
}

export function resources(cpu: string, memory = "1Gi"): Json {
  const requests = { cpu, memory };
  return { containers: [{ name: "main", image: "example/image:1", resources: { requests } }] };
}

export const zoneKey = "topology.kubernetes.io/zone";
export const hostKey = "kubernetes.io/hostname";
