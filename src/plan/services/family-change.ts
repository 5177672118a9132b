// A change of the IP family of a running cluster whose coordinators have host names. The headless service gives every pod
// a name for one family, so while pods of both exist some names would lead where nobody listens. Meanwhile coordinators
// are known by their addresses; when all pods have changed, the service is made anew and the names come back.
// Rules: spec/plan.md [P96], [P97].
import { routingOf } from "../../api/effective.ts";
import { isIpv6 } from "../../model/ip-address.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { hostOf } from "../../model/address.ts";
import { isReadyForRemoval } from "../../model/process-group.ts";
import { podsWithout } from "./pods-without.ts";
import type { Snapshot } from "../snapshot.ts";

type Family = 4 | 6;

/** Without names in the cluster file as long as they cannot be relied on. */
export function withSafeNames(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  if (!routingOf(cluster.spec).useDnsInClusterFile || !isChanging(snapshot)) return snapshot;
  const routing = {
    ...cluster.spec.routing,
    useDNSInClusterFile: false,
    defineDNSLocalityFields: true,
  };
  return { ...snapshot, cluster: { ...cluster, spec: { ...cluster.spec, routing } } };
}

/** All pods have the family that is wanted, and the service gives names for another one. */
export function hasServiceOfOtherFamily(snapshot: Snapshot): boolean {
  const families = podFamilies(snapshot);
  const [family] = families;
  if (family === undefined || families.size > 1 || !isWanted(snapshot, family)) return false;
  const names = namesFor(snapshot);
  return names.size > 0 && !names.has(family);
}

function isChanging(snapshot: Snapshot): boolean {
  const names = namesFor(snapshot);
  if (names.size === 0) return false;
  const families = [...podFamilies(snapshot)];
  return families.some((family) => !names.has(family) || !isWanted(snapshot, family));
}

/** Without a wish the family is the one that Kubernetes gives. */
function isWanted({ cluster }: Snapshot, family: Family): boolean {
  const { podIpFamily } = routingOf(cluster.spec);
  return podIpFamily === 0 || podIpFamily === family;
}

/**
 * Of the addresses that processes announce; a pod without address has none yet. One that holds nothing any more is only left
 * to be deleted, and may be kept for a look: nobody needs its name.
 */
function podFamilies(snapshot: Snapshot): ReadonlySet<Family> {
  const found = new Set<Family>();
  for (const pod of podsWithout(snapshot, isReadyForRemoval)) {
    const [ip] = shapeOfPod(snapshot, pod).publicIps;
    if (ip !== undefined && ip !== "") found.add(isIpv6(hostOf(ip)) ? 6 : 4);
  }
  return found;
}

/** Families for which the headless service gives names; none without the service. */
function namesFor({ cluster, services }: Snapshot): ReadonlySet<Family> {
  const families = services.get(cluster.metadata.name ?? "")?.spec?.ipFamilies ?? [];
  return new Set(families.map((family) => (family === "IPv6" ? 6 : 4)));
}
