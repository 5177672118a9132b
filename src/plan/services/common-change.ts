// A change that all processes make at once: another version that is not compatible, or TLS on or off. It waits for every pod to
// take the configuration, so what a pod cannot take without being made again comes before or after it.
// Rules: spec/plan.md [P116], spec/upgrade.md [U88], spec/restart.md [T52].
import type { ClusterSpec, ClusterStatus } from "../../api/cluster.ts";
import { isIncompatibleUpgrade } from "../view/running-version.ts";

/** The spec as it is without a change of all processes at once; the same one when there is none. */
export function withoutCommonChange(spec: ClusterSpec, status: ClusterStatus = {}): ClusterSpec {
  const { runningVersion: version = spec.version, requiredAddresses = {} } = status;
  if (isIncompatibleUpgrade(version, spec.version)) return { ...spec, version };
  const { mainContainer } = spec;
  const { tls = false, nonTLS = false } = requiredAddresses;
  const isWanted = mainContainer?.enableTls === true;
  const isKnown = tls || nonTLS;
  if (!isKnown || (tls === isWanted && nonTLS !== isWanted)) return spec;
  return { ...spec, mainContainer: { ...mainContainer, enableTls: !isWanted } };
}
