// Whether the coordinators of a database are as many, as spread and as healthy as they should be.
// Rules: spec/plan.md [P36], [P37], spec/halls.md [HALL37], [HALL38].
import { counted } from "../../model/counted.ts";
import { routingOf } from "../../api/effective.ts";
import type { ClusterSpec } from "../../api/cluster.ts";
import type { Remembering } from "../../env/memory.ts";
import {
  addressesInCommandLine,
  formatAddress,
  hostOf,
  isTls,
  parseAddress,
} from "../../model/address.ts";
import type { ProcessAddress } from "../../model/address.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import {
  choiceRules,
  coordinatorHardLimits,
  desiredCoordinatorCount,
  isEligibleClass,
} from "../../model/coordinator-choice.ts";
import type { CoordinatorWish } from "../../model/coordinator-choice.ts";
import { isOverRegions } from "../../model/database-configuration.ts";
import type { DatabaseConfiguration } from "../../model/database-configuration.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { dnsNameOf, localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { isTest } from "../../model/process-class.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { hostProblem } from "./coordinator-hosts.ts";
import { pickCoordinators } from "./coordinator-candidates.ts";

export interface CoordinatorInput extends Remembering {
  spec: ClusterSpec;
  configuration: DatabaseConfiguration;
  connectionString: string;
  status: DatabaseStatus;
  /** Process groups on their way out, which no other choice could use. */
  avoided?: ReadonlySet<string>;
  /** What the configuration asks for when absent. */
  wish?: CoordinatorWish;
  /** Process groups that go without an exclusion. */
  abandoned?: ReadonlySet<string>;
  /** Everything that could be a coordinator is where it will be. */
  isSettled?: boolean;
}

export function wishOf(input: CoordinatorInput): CoordinatorWish {
  return (
    input.wish ?? {
      count: desiredCoordinatorCount(input.configuration),
      hardLimits: coordinatorHardLimits(input.configuration),
    }
  );
}

/** The first thing wrong with the coordinators, as a sentence; undefined when they are as they should be. */
export function coordinatorProblem(input: CoordinatorInput): string | undefined {
  const { wanted, hosts } = input.memory.onceOfText(coordinatorNames, input.connectionString);
  const healthy = new Set<string>();
  const found: StatusProcess[] = [];
  for (const process of input.memory.once(processesOf, input.status)) {
    const address = coordinatorAddress(input, process, wanted, hosts);
    if (address === undefined) continue;
    const problem = processProblem(input, process, address);
    if (problem !== undefined) return problem;
    found.push(process);
    if (process.excluded !== true) healthy.add(address);
  }
  if (
    isConversion(input) &&
    missingCoordinators(input, input.status, input.connectionString).length === 0
  ) {
    const usesTls = input.spec.mainContainer?.enableTls === true;
    return `The coordinators are to be reached ${usesTls ? "by TLS" : "without TLS"}`;
  }
  const missing = [...wanted].filter((address) => !healthy.has(address)).sort();
  if (missing.length > 0) return `No healthy process serves as coordinator ${missing[0]}`;
  return spreadProblem(input, found);
}

/**
 * Coordinators that nobody serves: the client cannot reach them, or no process of the status is known by their name or
 * address. A coordinator known by its host name is found by the name that its process reports.
 */
export function missingCoordinators(
  { memory }: Remembering,
  status: DatabaseStatus,
  connectionString: string,
): string[] {
  const { coordinators, hosts } = memory.onceOfText(coordinatorNames, connectionString);
  const served = servedNames({ memory }, status, hosts);
  const unreachable = new Set(
    (status.client?.coordinators?.coordinators ?? [])
      .filter((coordinator) => !coordinator.reachable)
      .map((coordinator) => coordinator.address),
  );
  return coordinators
    .filter((address) => unreachable.has(address) || !served.has(address))
    .toSorted();
}

/** Whether a process of the status is known by one of these names or addresses. */
export function isAnyServed(
  remembering: Remembering,
  status: DatabaseStatus,
  coordinators: readonly string[],
): boolean {
  const served = servedNames(remembering, status, new Set(coordinators.map(hostOf)));
  return coordinators.some((address) => served.has(address));
}

/** All names and addresses of processes at these hosts, as coordinators are known by them. */
function servedNames(
  { memory }: Remembering,
  status: DatabaseStatus,
  hosts: ReadonlySet<string>,
): ReadonlySet<string> {
  const served = new Set<string>();
  for (const process of memory.once(processesOf, status)) {
    for (const name of namesAt({ memory }, process, hosts)) served.add(name);
  }
  return served;
}

/** All names and addresses of a process at one of these hosts; none of one elsewhere. */
function namesAt(
  { memory }: Remembering,
  process: StatusProcess,
  hosts: ReadonlySet<string>,
): string[] {
  const addresses = memory.once(announcedAddresses, process);
  const dnsName = dnsNameOf(process);
  return (addresses.ok ? addresses.value : []).flatMap((address) => {
    if (!hosts.has(address.host) && !hosts.has(dnsName)) return [];
    const names = [address, { ...address, fromHostname: true }, ...named(address, dnsName)];
    return names.map(formatAddress);
  });
}

/** All names and addresses of the processes that serve as coordinators, also those that no coordinator is known by. */
export function namesOfCoordinators({
  memory,
  status,
  connectionString,
}: CoordinatorInput): ReadonlySet<string> {
  const { wanted, hosts } = memory.onceOfText(coordinatorNames, connectionString);
  const names = memory.once(processesOf, status).flatMap((process) => {
    const own = namesAt({ memory }, process, hosts);
    return own.some((name) => wanted.has(name)) ? own : [];
  });
  return new Set(names);
}

/** Coordinators are to move between plain and TLS. */
export function isConversion(input: CoordinatorInput): boolean {
  const usesTls = input.spec.mainContainer?.enableTls === true;
  const { addresses } = input.memory.onceOfText(coordinatorNames, input.connectionString);
  return addresses.some((address) => isTls(address) !== usesTls);
}

/**
 * Processes without a listener of the wanted kind. Coordinators change from plain to TLS, or back, only when every
 * process has both; one that is excluded is about to go, and nobody restarts it before, nor one that goes without that.
 */
export function processesWithoutListener(input: CoordinatorInput): string[] {
  const usesTls = input.spec.mainContainer?.enableTls === true;
  return input.memory
    .once(processesOf, input.status)
    .filter((process) => {
      if (isTest(process.class_type ?? "") || process.address === undefined) return false;
      if (process.excluded === true) return false;
      if (input.abandoned?.has(localityOf(process, localityKeys.instance)) === true) return false;
      const addresses = input.memory.once(announcedAddresses, process);
      return !addresses.ok || addresses.value.every((address) => isTls(address) !== usesTls);
    })
    .map((process) => localityOf(process, localityKeys.instance) || (process.address ?? ""));
}

/** The name under which the process serves as coordinator; undefined when it does not. */
function coordinatorAddress(
  input: CoordinatorInput,
  process: StatusProcess,
  wanted: ReadonlySet<string>,
  hosts: ReadonlySet<string>,
): string | undefined {
  if (isTest(process.class_type ?? "") || process.locality === undefined) return undefined;
  const addresses = input.memory.once(announcedAddresses, process);
  if (!addresses.ok) return undefined;
  const usesTls = input.spec.mainContainer?.enableTls === true;
  const address = addresses.value.find((each) => isTls(each) === usesTls);
  if (address === undefined) return undefined;
  const dnsName = dnsNameOf(process);
  // Most processes are no coordinators, and this is asked in every pass.
  if (!hosts.has(address.host) && !hosts.has(dnsName)) return undefined;
  const names = [address, { ...address, fromHostname: true }, ...named(address, dnsName)];
  return names.map(formatAddress).find((text) => wanted.has(text));
}

interface CoordinatorNames {
  readonly coordinators: readonly string[];
  readonly wanted: ReadonlySet<string>;
  readonly addresses: readonly ProcessAddress[];
  readonly hosts: ReadonlySet<string>;
}

/** Several steps look at every process for the same coordinators, in every pass. */
function coordinatorNames(connectionString: string): CoordinatorNames {
  const coordinators = coordinatorsOf(connectionString);
  const addresses = coordinators.flatMap((text) => {
    const address = parseAddress(text);
    return address.ok ? [address.value] : [];
  });
  const hosts = new Set(addresses.map(({ host }) => host));
  return { coordinators, wanted: new Set(coordinators), addresses, hosts };
}

function announcedAddresses(process: StatusProcess): ReturnType<typeof addressesInCommandLine> {
  return addressesInCommandLine(process.command_line ?? "");
}

function named(address: ProcessAddress, dnsName: string): ProcessAddress[] {
  return dnsName === "" ? [] : [{ ...address, host: dnsName }];
}

function processProblem(
  input: CoordinatorInput,
  process: StatusProcess,
  address: string,
): string | undefined {
  const processClass = process.class_type ?? "";
  if (!isEligibleClass(processClass, input.spec.coordinatorSelection)) {
    return `Coordinator ${address} is a ${processClass} process, which may not be one`;
  }
  const dnsName = dnsNameOf(process);
  const usesName = dnsName !== "" && address.startsWith(`${dnsName}:`);
  const wantsName = routingOf(input.spec).useDnsInClusterFile && dnsName !== "";
  if (usesName === wantsName) return undefined;
  return `Coordinator ${address} should be known by its ${wantsName ? "host name" : "IP address"}`;
}

function spreadProblem(
  input: CoordinatorInput,
  found: readonly StatusProcess[],
): string | undefined {
  const zones = new Set(found.map((process) => localityOf(process, localityKeys.zone)));
  const { count, hardLimits } = wishOf(input);
  const isCrowded = zones.size < count && found.length === count && isSharingAllowed(input);
  if (zones.size !== count && !isCrowded) {
    return `The coordinators are in ${counted(zones.size, "zone")} and should be in ${count}`;
  }
  for (const [key, limit] of Object.entries(hardLimits)) {
    if (isCrowded && key === localityKeys.zone && limit === 1) continue;
    const counts = new Map<string, number>();
    for (const process of found) {
      const value = localityOf(process, key);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    for (const [value, used] of counts) {
      if (used > limit) return `${used} coordinators share ${key} ${value}; at most ${limit} may`;
    }
  }
  const rules = choiceRules(input.configuration, count, hardLimits);
  return hostProblem({ ...input, avoided: input.avoided ?? new Set() }, found, rules);
}

/**
 * Over halls and regions no zone holds more coordinators than a hall or a datacenter may, so some that came to share one
 * are better than fewer of them, as long as no full set can be found.
 */
function isSharingAllowed(input: CoordinatorInput): boolean {
  const { configuration, isSettled } = input;
  const wish = wishOf(input);
  const { spreadLocality } = redundancyOf(configuration.redundancy_mode);
  const key = isOverRegions(configuration) ? localityKeys.dataCenter : spreadLocality;
  if (key === undefined || !(key in wish.hardLimits) || isSettled !== true) return false;
  // A wish for shared zones is made only when no others can be found.
  if (wish.hardLimits[localityKeys.zone] !== 1) return true;
  return pickCoordinators({ ...input, avoided: input.avoided ?? new Set() }, wish).missing > 0;
}
