// Chooses the coordinators of a running database among the processes that its status shows: spread over zones,
// datacenters and halls, known by name or by address as the resource wants it. Rules: spec/restart.md [T1]-[T6].
import { routingOf } from "../api/effective.ts";
import type { ClusterSpec } from "../api/cluster.ts";
import { addressesInCommandLine, formatAddress, isTls } from "../model/address.ts";
import { formatConnectionString, parseConnectionString } from "../model/connection-string.ts";
import {
  choiceRules,
  chooseDistributed,
  classPriority,
  coordinatorHardLimits,
  desiredCoordinatorCount,
  isEligibleClass,
  loweredPriority,
} from "../model/coordinator-choice.ts";
import type { Candidate } from "../model/coordinator-choice.ts";
import type { StatusProcess } from "../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../model/locality.ts";
import { formatVersion, parseVersion } from "../model/version.ts";
import { coordinatorProblem } from "./coordinator-validity.ts";
import type { CoordinatorInput } from "./coordinator-validity.ts";
import { unreachableAddresses } from "./unreachable-processes.ts";

export interface CoordinatorChoiceInput extends CoordinatorInput {
  /** Process groups on their way out: none of them may become a coordinator. */
  avoided: ReadonlySet<string>;
}

export type CoordinatorChoice =
  | { readonly ok: true; readonly addresses: readonly string[]; readonly ids: readonly string[] }
  | { readonly ok: false; readonly problem: string };

interface CoordinatorCandidate extends Candidate {
  address: string;
}

export function chooseCoordinators(input: CoordinatorChoiceInput): CoordinatorChoice {
  const { configuration, connectionString } = input;
  const candidates = coordinatorCandidates(input);
  const count = desiredCoordinatorCount(configuration);
  const rules = choiceRules(configuration, count, coordinatorHardLimits(configuration));
  const { chosen, missing } = chooseDistributed(candidates, rules);
  if (missing > 0) {
    const zones = new Set(candidates.map((one) => one.localities[localityKeys.zone])).size;
    const problem =
      `${count} coordinators are wanted and only ${chosen.length} can be found: ` +
      `${candidates.length} processes in ${zones} zones may be one`;
    return { ok: false, problem };
  }
  const addresses = chosen.map((one) => one.address).sort();
  const connection = parseConnectionString(connectionString);
  if (!connection.ok) return { ok: false, problem: connection.error };
  // A choice that would be found unfit right away would be changed again and again.
  const next = formatConnectionString({ ...connection.value, coordinators: addresses });
  const problem = coordinatorProblem({ ...input, connectionString: next });
  const ids = chosen.map((one) => one.id);
  return problem === undefined ? { ok: true, addresses, ids } : { ok: false, problem };
}

export function coordinatorCandidates(input: CoordinatorChoiceInput): CoordinatorCandidate[] {
  const unreachable = unreachableAddresses(input.status);
  const found: CoordinatorCandidate[] = [];
  for (const process of processesOf(input.status)) {
    const id = localityOf(process, localityKeys.instance);
    if (id === "" || input.avoided.has(id) || unreachable.has(process.address ?? "")) continue;
    if (process.excluded === true || process.under_maintenance === true) continue;
    const processClass = process.class_type ?? "";
    if (!isEligibleClass(processClass, input.spec.coordinatorSelection)) continue;
    const address = futureAddress(input.spec, process);
    if (address === undefined) continue;
    const priority = classPriority(processClass, input.spec.coordinatorSelection);
    found.push({
      id,
      address,
      priority: isTransient(input.spec, process) ? loweredPriority(priority) : priority,
      localities: process.locality ?? {},
    });
  }
  return found;
}

/** What the connection string would say about the process; undefined when it cannot be reached in the wanted way. */
function futureAddress(spec: ClusterSpec, process: StatusProcess): string | undefined {
  const addresses = addressesInCommandLine(process.command_line ?? "");
  if (!addresses.ok) return undefined;
  const usesTls = spec.mainContainer?.enableTls === true;
  const address = addresses.value.find((each) => isTls(each) === usesTls);
  if (address === undefined) return undefined;
  if (!routingOf(spec).useDnsInClusterFile) return formatAddress(address);
  const dnsName = localityOf(process, localityKeys.dnsName);
  return dnsName === "" ? undefined : formatAddress({ ...address, host: dnsName });
}

/** Its pod will be made anew soon: it runs another version, or a binary that was copied into the pod. */
function isTransient(spec: ClusterSpec, process: StatusProcess): boolean {
  const version = parseVersion(process.version ?? "");
  const wanted = parseVersion(spec.version);
  const isOther =
    version !== undefined &&
    wanted !== undefined &&
    formatVersion(version) !== formatVersion(wanted);
  return isOther || (process.command_line ?? "").startsWith("/var/");
}
