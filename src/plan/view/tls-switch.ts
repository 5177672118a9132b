// The time in which a cluster is switched between plain and TLS, and what it has to wait for.
// Rules: spec/restart.md [T24], [T52].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isUpgradingIncompatibly } from "./running-version.ts";
import type { Draft } from "../step.ts";

/** Processes listen in both ways until the coordinators have moved. */
export function isConvertingTls(draft: Draft): boolean {
  const { tls = false, nonTLS = false } = draft.status.requiredAddresses ?? {};
  return tls && nonTLS;
}

/**
 * A switch of TLS waits for every pod to take the configuration, and this one cannot: it was made without a variable
 * that the configuration names. A pod that is made in its place can.
 */
export function holdsTlsSwitch(draft: Draft, group: ProcessGroup, pod: Stored<Pod>): boolean {
  return (
    isConvertingTls(draft) &&
    !isUpgradingIncompatibly(draft) &&
    draft.desired.lacksVariable(group, pod)
  );
}
