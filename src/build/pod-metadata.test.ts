// Annotations of pods and what a living pod says about itself.
import { Memory } from "../env/memory.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { livePodMetadata } from "./pod-metadata.ts";
import { shapeOfPod } from "../plan/view/pod-shape.ts";
import { imageTypeOfPod, ipFamilyOfPod, publicIpsOfPod } from "./pod-reading.ts";
import type { ReadablePod } from "./pod-reading.ts";
import { pod } from "./pod.ts";
import { clusterWith, storage1 } from "../../test/fixtures/sample-cluster.ts";

const prefix = "foundationdb.org/";

function podWith(
  annotations: Record<string, string>,
  spec: ReadablePod["spec"] = {},
  status: ReadablePod["status"] = {},
): ReadablePod {
  const keyed = Object.entries(annotations).map(([key, value]) => [prefix + key, value]);
  return { metadata: { annotations: Object.fromEntries(keyed) }, spec, status };
}

test("[B70] a new pod says how it was made", () => {
  const routing = { publicIPSource: "service", podIPFamily: 4 } as const;
  const made = pod(clusterWith({ routing }), storage1, {
    configMapHash: "abc",
    publicIp: "10.1.1.1",
  });
  assert.ok(made.ok);
  const { annotations = {} } = made.value.metadata;
  assert.deepEqual(
    ["image-type", "ip-family", "public-ip-source", "public-ip", "last-applied-config-map"].map(
      (key) => annotations[prefix + key],
    ),
    ["unified", "4", "service", "10.1.1.1", "abc"],
  );
  assert.match(annotations[`${prefix}last-applied-spec`] ?? "", /^[0-9a-f]{64}$/);
});

test("[B71] what says how a pod was made is left alone", () => {
  const old = podWith({ "last-applied-spec": "old", "image-type": "split", "ip-family": "6" });
  const { annotations } = livePodMetadata(clusterWith(), storage1, old);
  assert.equal(annotations[`${prefix}last-applied-spec`], "old");
  assert.equal(annotations[`${prefix}image-type`], "split");
  assert.equal(annotations[`${prefix}ip-family`], "6");
  assert.equal(annotations[`${prefix}public-ip-source`], "pod");
});

test("[B71] where a pod has its address from is read from its containers, not from the wish", () => {
  const service = clusterWith({ routing: { publicIPSource: "service" } });
  for (const [maker, other, source] of [
    [clusterWith(), service, "pod"],
    [service, clusterWith(), "service"],
  ] as const) {
    const made = pod(maker, storage1, { configMapHash: "abc", publicIp: "10.1.1.1" });
    assert.ok(made.ok);
    const { annotations } = livePodMetadata(other, storage1, made.value);
    assert.equal(annotations[`${prefix}public-ip-source`], source);
  }
});

test("[B72] a pod that has a node names it", () => {
  const node = `${prefix}current-node`;
  const at = (nodeName?: string): string | undefined =>
    livePodMetadata(clusterWith(), storage1, podWith({}, { nodeName })).annotations[node];
  assert.deepEqual([at("n1"), at()], ["n1", undefined]);
});

test("[B73] a pod without an image type is split", () => {
  assert.equal(imageTypeOfPod(podWith({})), "split");
  assert.equal(imageTypeOfPod(podWith({ "image-type": "unified" })), "unified");
});

test("[B74] the IP family is read from annotation, sidecar or monitor", () => {
  const args = ["--public-ip-family", "6"];
  const containers = [{ name: "foundationdb-kubernetes-sidecar", args }];
  assert.equal(ipFamilyOfPod(podWith({ "ip-family": "4" }, { containers })), 4);
  assert.equal(ipFamilyOfPod(podWith({}, { containers })), 6);
  assert.equal(ipFamilyOfPod(podWith({})), 0);
  const configuration = '{"arguments":[{"type":"IPList","ipFamily":6}]}';
  const unified = { "image-type": "unified", "launcher-current-configuration": configuration };
  assert.equal(ipFamilyOfPod(podWith(unified)), 6);
  assert.equal(ipFamilyOfPod(podWith({ "image-type": "unified" })), 0);
});

test("[B75] the number of servers is read from the environment", () => {
  const env = [{ name: "LOG_SERVERS_PER_POD", value: "3" }];
  const made = podWith({}, { containers: [{ name: "a" }, { name: "b", env }] });
  const servers = (read: ReadablePod): number =>
    shapeOfPod({ memory: new Memory() }, read as Parameters<typeof shapeOfPod>[1]).servers;
  assert.deepEqual([servers(made), servers(podWith({}))], [3, 1]);
});

test("[B76] public addresses are those of the family or of the service", () => {
  const status = { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] };
  assert.deepEqual(publicIpsOfPod(podWith({}, {}, status)), ["10.0.0.1"]);
  assert.deepEqual(publicIpsOfPod(podWith({ "ip-family": "6" }, {}, status)), ["fd00::1"]);
  assert.deepEqual(publicIpsOfPod(podWith({ "ip-family": "4" }, {}, status)), ["10.0.0.1"]);
  const service = { "public-ip-source": "service", "public-ip": "10.9.9.9" };
  assert.deepEqual(publicIpsOfPod(podWith(service, {}, status)), ["10.9.9.9"]);
  assert.deepEqual(publicIpsOfPod(podWith({})), []);
});
