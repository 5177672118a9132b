// A change of the IP family of a running cluster: when names may be relied on, and when their service is made anew.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { annotationKeys } from "../../src/build/labels.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { routingOf } from "../../src/api/effective.ts";
import { hasServiceOfOtherFamily, withSafeNames } from "../../src/plan/services/family-change.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { PlanWorld } from "./plan-world.ts";

function familyOf(pod: Stored<Pod>, family: 4 | 6, index: number): Stored<Pod> {
  const ip = family === 6 ? `fd00::${index + 1}` : `10.0.0.${index + 1}`;
  const annotations = { ...pod.metadata.annotations, [annotationKeys.ipFamily]: String(family) };
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations },
    status: { ...pod.status, podIP: ip, podIPs: [{ ip }] },
  };
}

/** A cluster that wants a family, with pods of these and a service that gives names for that one. */
function changing(wanted: 0 | 4 | 6, families: (4 | 6)[], names: "IPv4" | "IPv6"): Snapshot {
  const world = new PlanWorld({
    processCounts: { storage: 1, log: 1, stateless: 1 },
    databaseConfiguration: { redundancy_mode: "single" },
  });
  world.settle();
  world.changeSpec({ routing: { podIPFamily: wanted } });
  const pods = [...world.pods].map(([name, pod], index) => {
    return [name, familyOf(pod, families[index % families.length] ?? 4, index)] as const;
  });
  const service = world.services.get("sample");
  assert.ok(service !== undefined);
  const services = new Map([
    ["sample", { ...service, spec: { ...service.spec, ipFamilies: [names] } }],
  ]);
  return world.snapshot({ pods: new Map(pods), services });
}

const usesNames = (snapshot: Snapshot): boolean =>
  routingOf(withSafeNames(snapshot).cluster.spec).useDnsInClusterFile;

test("[P96] names are used where they lead to all processes, and not while the family changes", () => {
  assert.equal(usesNames(changing(0, [4], "IPv4")), true);
  assert.equal(usesNames(changing(6, [6], "IPv6")), true);
  assert.equal(usesNames(changing(0, [6], "IPv6")), true, "as Kubernetes gives them");
  assert.equal(usesNames(changing(6, [4], "IPv4")), false);
  assert.equal(usesNames(changing(6, [4, 6], "IPv4")), false);
  assert.equal(usesNames(changing(6, [6], "IPv4")), false);
  assert.equal(usesNames(changing(0, [4], "IPv6")), false, "the way back");
  const { routing } = withSafeNames(changing(6, [4], "IPv4")).cluster.spec;
  assert.equal(routingOf({ version: "7.3.63", routing }).needsHeadlessService, true);
});

test("[P97] the service is made anew when all pods have the wanted family and it has not", () => {
  assert.equal(hasServiceOfOtherFamily(changing(6, [6], "IPv4")), true);
  assert.equal(hasServiceOfOtherFamily(changing(0, [4], "IPv6")), true);
  assert.equal(hasServiceOfOtherFamily(changing(6, [4, 6], "IPv4")), false);
  assert.equal(hasServiceOfOtherFamily(changing(6, [4], "IPv4")), false);
  assert.equal(hasServiceOfOtherFamily(changing(6, [6], "IPv6")), false);
});
