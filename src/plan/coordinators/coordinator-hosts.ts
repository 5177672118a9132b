// Whether the coordinators of a packed cluster share hosts more than they must. Processes of different logical fault
// domains may run on one host, where the database sees different zones. Rules: spec/packing.md [PACK54], [PACK55],
// spec/halls.md [HALL38].
import type { ClusterSpec } from "../../api/cluster.ts";
import { isPackingEnabled } from "../../api/packing.ts";
import type { ChoiceRules } from "../../model/coordinator-choice.ts";
import { chooseOverMachines } from "../../model/coordinator-machines.ts";
import { isOverRegions } from "../../model/database-configuration.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { coordinatorCandidates } from "./coordinator-candidates.ts";
import type { CandidateInput } from "./coordinator-candidates.ts";
import type { PlanWarning } from "../step.ts";

export function machinesProblem(count: number, machinesMissing: number): string {
  const nodes = machinesMissing === 1 ? "1 node" : `${machinesMissing} nodes`;
  return (
    `${count} coordinators are wanted, and no host may hold half of them or more: ` +
    `${nodes} with a storage or log pod must be added`
  );
}

/** Allowed where hosts are scarce, and worth a word: the loss of one host costs several coordinators. */
export function sharingWarnings(
  spec: ClusterSpec,
  status: DatabaseStatus | undefined,
): PlanWarning[] {
  if (status === undefined) return [];
  const isPacked = isPackingEnabled(spec);
  if (!isPacked && !isOverRegions(status.cluster?.configuration ?? {})) return [];
  const coordinators = servingCoordinators(status);
  const shared = sharedHost(coordinators);
  if (shared === undefined) return [];
  const remedy = isPacked ? "Add nodes" : "Add nodes, or replace one that shares its host";
  const message =
    `There are too few hosts for ${coordinators.length} coordinators: up to ${shared.count} share one. ` +
    `${remedy}, so that the loss of one costs one coordinator.`;
  return [{ reason: "CoordinatorsShareHosts", message }];
}

export function servingCoordinators(status: DatabaseStatus): StatusProcess[] {
  return processesOf(status).filter((process) =>
    process.roles?.some(({ role }) => role === "coordinator"),
  );
}

/** The host with most coordinators, and how many; undefined when none has two. */
function sharedHost(
  coordinators: readonly StatusProcess[],
): { readonly host: string; readonly count: number } | undefined {
  const counts = new Map<string, number>();
  for (const process of coordinators) {
    const host = localityOf(process, localityKeys.machine);
    if (host !== "") counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return most === undefined || most[1] < 2 ? undefined : { host: most[0], count: most[1] };
}

/** A sentence when another choice would put fewer coordinators on one host. */
export function hostProblem(
  input: CandidateInput,
  coordinators: readonly StatusProcess[],
  rules: ChoiceRules,
): string | undefined {
  if (!isPackingEnabled(input.spec)) return undefined;
  const shared = sharedHost(coordinators);
  if (shared === undefined) return undefined;
  const best = chooseOverMachines(coordinatorCandidates(input), rules);
  if (best.missing > 0 || best.perMachine >= shared.count) return undefined;
  const { host, count } = shared;
  return `${count} coordinators run on host ${host}; ${best.perMachine} would be possible`;
}
