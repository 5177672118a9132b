// The affinity of packed pods as the operator builds it, in the hands of a scheduler.
import assert from "node:assert/strict";
import { clusterWith } from "../fixtures/sample-cluster.ts";
import { pod } from "../../src/build/pod.ts";
import { capability } from "./case.ts";
import { makeNodes, place, unschedulableMessage } from "./scheduling.ts";
import { pod as plainPod } from "./samples.ts";
import type { Json, Target } from "./target.ts";
import { jsonOf } from "./target.ts";

interface Sketch {
  readonly labels: Json;
  readonly spec: Json;
}

/** Labels and affinity of the operator's pod, in a pod that needs no volumes; `on` pins it to a node. */
function sketch(processClass: string, distributionKey?: string, on?: string): Sketch {
  const subject = { processClass, processGroupID: `${processClass}-1`, distributionKey };
  const built = pod(clusterWith(), subject);
  assert.ok(built.ok);
  const { metadata, spec } = built.value;
  const pinned = on === undefined ? {} : { nodeSelector: { name: on } };
  return { labels: { ...metadata?.labels }, spec: { affinity: jsonOf(spec?.affinity), ...pinned } };
}

function put(target: Target, name: string, { spec, labels }: Sketch): Promise<string> {
  return place(target, name, spec, labels);
}

async function isRefused(target: Target, name: string, { spec, labels }: Sketch): Promise<void> {
  await target.create(target.path("pods"), plainPod(name, spec, { labels }));
  assert.match(await unschedulableMessage(target, name), /anti-affinity/);
}

export const domainCases = capability(
  "scheduler: logical fault domains",
  [
    [
      "[PACK26] pods of one domain share a host, those of another domain of the class never",
      async (target) => {
        await makeNodes(target, { a: {}, b: {} });
        await put(target, "p", sketch("storage", "storage-0", "a"));
        await put(target, "q", sketch("storage", "storage-0", "a"));
        assert.equal(await put(target, "r", sketch("storage", "storage-1")), "b");
        await isRefused(target, "s", sketch("storage", "storage-2"));
      },
    ],
    [
      "[PACK26] packed and unpacked pods keep apart in both directions",
      async (target) => {
        await makeNodes(target, { a: {}, b: {} });
        await put(target, "p", sketch("storage", undefined, "a"));
        assert.equal(await put(target, "q", sketch("storage", "storage-0")), "b");
        await isRefused(target, "r", sketch("storage", "storage-0", "a"));
        await isRefused(target, "s", sketch("storage", undefined, "b"));
      },
    ],
    [
      "[PACK26] log and transaction pods are one class, a storage pod may join them when it must",
      async (target) => {
        await makeNodes(target, { a: {} });
        await put(target, "p", sketch("log", "log-0"));
        await isRefused(target, "q", sketch("transaction", "transaction-0"));
        assert.equal(await put(target, "r", sketch("storage", "storage-0")), "a");
        assert.equal(await put(target, "s", sketch("stateless", "stateless-0")), "a");
        assert.equal(await put(target, "t", sketch("stateless", "stateless-1")), "a");
      },
    ],
    [
      "[PACK26] storage and log pods use other hosts where there are some",
      async (target) => {
        await makeNodes(target, { a: {}, b: {} });
        await put(target, "p", sketch("log", "log-0", "a"));
        assert.equal(await put(target, "q", sketch("storage", "storage-0")), "b");
      },
    ],
    [
      "[PACK24] [PACK26] unpacked pods spread over hosts, also where packed ones of the other kind are",
      async (target) => {
        await makeNodes(target, { a: {}, b: {}, c: {} });
        await put(target, "p", sketch("storage", "storage-0", "b"));
        await put(target, "q", sketch("storage", "storage-1", "c"));
        await put(target, "r", sketch("log", undefined, "a"));
        assert.notEqual(await put(target, "s", sketch("log")), "a");
      },
    ],
  ],
  "scheduler",
);
