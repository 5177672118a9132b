// A change that all processes make at once: another version that is not compatible, or TLS on or off. It waits for every pod to
// take the configuration, so what a pod cannot take without being made again comes before or after it.
// Rules: spec/plan.md [P116], spec/upgrade.md [U88], spec/restart.md [T52].
import type { ClusterSpec, ClusterStatus } from "../../api/cluster.ts";
import { isIncompatibleUpgrade } from "../view/running-version.ts";

/** The spec as it is without changes of all processes at once, of which there may be two; the same one when there is none. */
export function withoutCommonChange(spec: ClusterSpec, status: ClusterStatus = {}): ClusterSpec {
  const { runningVersion: version = spec.version, requiredAddresses = {} } = status;
  const calm = isIncompatibleUpgrade(version, spec.version) ? { ...spec, version } : spec;
  const { mainContainer } = spec;
  const { tls = false, nonTLS = false } = requiredAddresses;
  const isWanted = mainContainer?.enableTls === true;
  const isKnown = tls || nonTLS;
  if (!isKnown || (tls === isWanted && nonTLS !== isWanted)) return calm;
  return { ...calm, mainContainer: { ...mainContainer, enableTls: !isWanted } };
}
