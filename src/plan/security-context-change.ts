// Whether a pod's files would belong to another user or group after a change of its security context, so that a new
// pod could not read the old volume. Rules: spec/removal.md [R8].
import type { Container, PodSpec } from "../kube/generated/types.ts";

export function securityContextChange(
  live: PodSpec | undefined,
  wanted: PodSpec | undefined,
): string | undefined {
  const [before, after] = [live?.securityContext ?? {}, wanted?.securityContext ?? {}];
  if (before.fsGroup !== after.fsGroup) return "the group of its files changes";
  if (before.fsGroupChangePolicy !== after.fsGroupChangePolicy) {
    return "the way in which its files get their group changes";
  }
  for (const container of live?.containers ?? []) {
    const other = wanted?.containers.find((each) => each.name === container.name);
    if (other === undefined) continue;
    const [from, to] = [identityOf(live, container), identityOf(wanted, other)];
    if (from.user !== to.user) return `the user of container ${container.name} changes`;
    if (from.group !== to.group) return `the group of container ${container.name} changes`;
  }
  return undefined;
}

/** What a container says wins over what its pod says. */
function identityOf(
  pod: PodSpec | undefined,
  container: Container,
): { user: number | undefined; group: number | undefined } {
  return {
    user: container.securityContext?.runAsUser ?? pod?.securityContext?.runAsUser,
    group: container.securityContext?.runAsGroup ?? pod?.securityContext?.runAsGroup,
  };
}
