// Whether the present coordinators are as a cluster wants them, judged from a status of the database.
// Carries the rules M66 to M69 of spec/model.md.
import { addressesInCommandLine, formatAddress, isTls } from "./address.ts";
import type { ProcessAddress } from "./address.ts";
import { isEligibleClass } from "./coordinator-choice.ts";
import type { CoordinatorSelection, LocalityLimits } from "./coordinator-choice.ts";
import type { DatabaseStatus, StatusProcess } from "./database-status.ts";
import { localityKeys, localityOf, processesOf } from "./locality.ts";
import { isTest } from "./process-class.ts";

export interface CoordinatorRules {
  count: number;
  hardLimits: LocalityLimits;
  selection?: readonly CoordinatorSelection[] | undefined;
  usesTls: boolean;
  usesDns: boolean;
}

export interface CoordinatorJudgement {
  isValid: boolean;
  /** Every process announces an address of the wanted kind, so coordinators can be chosen. */
  areAddressesValid: boolean;
  /** Sentences that say what is wrong, in a fixed order. */
  problems: readonly string[];
}

/** The address at which a process serves as a coordinator, by name where names are wanted and known. */
export function coordinatorAddressOf(
  process: StatusProcess,
  address: ProcessAddress,
  usesDns: boolean,
): ProcessAddress {
  const dnsName = localityOf(process, localityKeys.dnsName);
  return usesDns && dnsName !== "" ? { ...address, host: dnsName } : address;
}

/** The first announced address that uses TLS exactly if TLS is wanted. */
export function announcedAddress(
  process: StatusProcess,
  usesTls: boolean,
): ProcessAddress | undefined {
  const addresses = addressesInCommandLine(process.command_line ?? "");
  return addresses.ok ? addresses.value.find((address) => isTls(address) === usesTls) : undefined;
}

export function judgeCoordinators(
  status: DatabaseStatus,
  coordinators: readonly string[],
  rules: CoordinatorRules,
): CoordinatorJudgement {
  const problems: string[] = [];
  const healthy = new Set<string>();
  const seen = new Map(
    Object.keys(rules.hardLimits).map((key) => [key, new Map<string, number>()]),
  );
  const zones = new Set<string>();
  let areAddressesValid = true;

  for (const process of processesOf(status)) {
    if (!process.address || !process.locality || isTest(process.class_type ?? "")) continue;
    const address = announcedAddress(process, rules.usesTls);
    if (!address) {
      areAddressesValid = false;
      continue;
    }
    const text = coordinators.find((coordinator) =>
      namesOf(process, address).includes(coordinator),
    );
    if (text === undefined) continue;
    if (process.excluded) problems.push(`coordinator ${text} is excluded`);
    else healthy.add(text);
    if (!isEligibleClass(process.class_type ?? "", rules.selection)) {
      problems.push(`coordinator ${text} has the class ${process.class_type ?? ""}`);
    }
    const dnsName = localityOf(process, localityKeys.dnsName);
    const isByName = dnsName !== "" && text.startsWith(`${dnsName}:`);
    if (rules.usesDns ? dnsName !== "" && !isByName : isByName) {
      problems.push(`coordinator ${text} should be given by ${rules.usesDns ? "name" : "address"}`);
    }
    zones.add(localityOf(process, localityKeys.zone));
    for (const [key, counts] of seen) {
      const value = localityOf(process, key);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  for (const coordinator of coordinators) {
    const isExcluded = problems.includes(`coordinator ${coordinator} is excluded`);
    if (!healthy.has(coordinator) && !isExcluded) {
      problems.push(`coordinator ${coordinator} has no live process`);
    }
  }
  if (zones.size !== rules.count) {
    problems.push(`coordinators are in ${zones.size} zones instead of ${rules.count}`);
  }
  problems.push(...crowdedPlaces(seen, rules.hardLimits));
  return { isValid: problems.length === 0, areAddressesValid, problems };
}

/** The forms in which a connection string or a status may name the same coordinator. */
function namesOf(process: StatusProcess, address: ProcessAddress): string[] {
  const dnsName = localityOf(process, localityKeys.dnsName);
  const byName = dnsName === "" ? [] : [formatAddress({ ...address, host: dnsName })];
  return [formatAddress(address), ...byName, formatAddress({ ...address, fromHostname: true })];
}

function crowdedPlaces(
  seen: ReadonlyMap<string, ReadonlyMap<string, number>>,
  limits: LocalityLimits,
): string[] {
  const problems: string[] = [];
  for (const [key, counts] of seen) {
    const limit = limits[key] ?? 0;
    for (const [value, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (count > limit)
        problems.push(`${count} coordinators share ${key} "${value}", not ${limit}`);
    }
  }
  return problems;
}
