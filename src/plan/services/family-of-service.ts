// The IP family of a pod that is made again for a process group whose service has another one than the spec gives pods by now:
// a service never changes its family, so that it leads to nobody in a pod of another one, and servers cannot announce it there.
// Rules: spec/plan.md [P114], [P119].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { routingOf } from "../../api/effective.ts";
import type { Service } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { canonicalIp, familyOfIp } from "../../model/ip-address.ts";
import type { Snapshot } from "../snapshot.ts";

/** Undefined where the pod is made as the spec wants it. */
export function keptFamily(
  snapshot: Snapshot,
  group: ProcessGroup,
  service: Stored<Service> | undefined,
): 4 | 6 | undefined {
  const { publicIpSource, podIpFamily } = routingOf(snapshot.cluster.spec);
  if (publicIpSource !== "service") return undefined;
  // Where services get another family than pods by themselves, each new process group would be replaced for it, for ever.
  const isNew = (group.addresses ?? []).length === 0;
  if (podIpFamily === 0 && isNew) return undefined;
  const ip = canonicalIp(service?.spec?.clusterIP ?? "");
  if (ip === undefined) return undefined;
  const family = familyOfIp(ip);
  return isOtherFamily(snapshot, family) ? family : undefined;
}

/** Than pods have that are made as the spec wants; where it leaves that to Kubernetes, nodes tell. */
export function isOtherFamily(
  { cluster, givenFamily }: Pick<Snapshot, "cluster" | "givenFamily">,
  family: 4 | 6,
): boolean {
  const given = routingOf(cluster.spec).podIpFamily || givenFamily;
  return given !== undefined && given !== family;
}
