// Whether the coordinators of a database are as many, as spread and as healthy as they should be.
// Rules: spec/plan.md [P36], [P37].
import { routingOf } from "../api/effective.ts";
import type { ClusterSpec } from "../api/cluster.ts";
import { addressesInCommandLine, formatAddress, isTls } from "../model/address.ts";
import type { ProcessAddress } from "../model/address.ts";
import { coordinatorsOf } from "../model/connection-string.ts";
import {
  coordinatorHardLimits,
  desiredCoordinatorCount,
  isEligibleClass,
} from "../model/coordinator-choice.ts";
import type { DatabaseConfiguration } from "../model/database-configuration.ts";
import type { DatabaseStatus, StatusProcess } from "../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../model/locality.ts";
import { isTest } from "../model/process-class.ts";

export interface CoordinatorInput {
  spec: ClusterSpec;
  configuration: DatabaseConfiguration;
  connectionString: string;
  status: DatabaseStatus;
}

/** The first thing wrong with the coordinators, as a sentence; undefined when they are as they should be. */
export function coordinatorProblem(input: CoordinatorInput): string | undefined {
  const wanted = new Set(coordinatorsOf(input.connectionString));
  const healthy = new Set<string>();
  const found: StatusProcess[] = [];
  for (const process of processesOf(input.status)) {
    const address = coordinatorAddress(input, process, wanted);
    if (address === undefined) continue;
    const problem = processProblem(input, process, address);
    if (problem !== undefined) return problem;
    found.push(process);
    if (process.excluded !== true) healthy.add(address);
  }
  const missing = [...wanted].filter((address) => !healthy.has(address)).sort();
  if (missing.length > 0) return `No healthy process serves as coordinator ${missing[0]}`;
  return spreadProblem(input, found);
}

/** The name under which the process serves as coordinator; undefined when it does not. */
function coordinatorAddress(
  input: CoordinatorInput,
  process: StatusProcess,
  wanted: ReadonlySet<string>,
): string | undefined {
  if (isTest(process.class_type ?? "") || process.locality === undefined) return undefined;
  const addresses = addressesInCommandLine(process.command_line ?? "");
  if (!addresses.ok) return undefined;
  const usesTls = input.spec.mainContainer?.enableTls === true;
  const address = addresses.value.find((each) => isTls(each) === usesTls);
  if (address === undefined) return undefined;
  const dnsName = localityOf(process, localityKeys.dnsName);
  const names = [address, { ...address, fromHostname: true }, ...named(address, dnsName)];
  return names.map(formatAddress).find((text) => wanted.has(text));
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
  const dnsName = localityOf(process, localityKeys.dnsName);
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
  const count = desiredCoordinatorCount(input.configuration);
  if (zones.size !== count) {
    return `The coordinators are in ${zones.size} zones and should be in ${count}`;
  }
  for (const [key, limit] of Object.entries(coordinatorHardLimits(input.configuration))) {
    const counts = new Map<string, number>();
    for (const process of found) {
      const value = localityOf(process, key);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    for (const [value, used] of counts) {
      if (used > limit) return `${used} coordinators share ${key} ${value}; at most ${limit} may`;
    }
  }
  return undefined;
}
