// Whether coordinators are known by names that the headless service of the cluster gives: they are found only where pods have
// these names, whatever the spec wants by now. Rules: spec/plan.md [P114], spec/hibernation.md [HIB12].
import { isNameOfService } from "../../build/pod-environment.ts";
import { hostOf } from "../../model/address.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import type { Snapshot } from "../snapshot.ts";

export function needsNames(cluster: Snapshot["cluster"], connectionString: string): boolean {
  const hosts = coordinatorsOf(connectionString).map(hostOf);
  return hosts.some((host) => isNameOfService(cluster, host));
}
