// The vectors about numbers and choices: process counts, configurations and their staging, coordinators, addresses.
import { hostOf, formatAddress, parseAddress, withoutFlags } from "../../src/model/address.ts";
import { nextConfiguration } from "../../src/model/configuration-staging.ts";
import { configureArguments } from "../../src/model/configure-command.ts";
import {
  chooseDistributed,
  choiceRules,
  coordinatorHardLimits,
  desiredCoordinatorCount,
} from "../../src/model/coordinator-choice.ts";
import type { LocalityLimits } from "../../src/model/coordinator-choice.ts";
import {
  desiredConfiguration,
  isSameConfiguration,
  normalConfiguration,
} from "../../src/model/database-configuration.ts";
import type { DatabaseConfiguration } from "../../src/model/database-configuration.ts";
import { desiredProcessCounts, totalProcessCount } from "../../src/model/process-counts.ts";
import type { CountInput } from "../../src/model/process-counts.ts";
import { redundancyOf } from "../../src/model/redundancy.ts";
import type { Case } from "./check.ts";
import { compare } from "./comparison.ts";
import type { Outcome } from "./comparison.ts";

/** The resource's spec, whether a case gives it alone or within the whole resource. */
function specOf(vector: Case): CountInput {
  const cluster = vector["cluster"];
  if (typeof cluster !== "object" || cluster === null) throw new Error("it has no cluster");
  return (cluster as { spec?: CountInput }).spec ?? cluster;
}

export function checkCounts(vector: Case): Outcome[] {
  const spec = specOf(vector);
  const configuration = spec.databaseConfiguration ?? {};
  const counts = desiredProcessCounts(spec);
  const desired = desiredConfiguration(configuration);
  const command = configureArguments(desired);
  const actual: Record<string, unknown> = {
    counts,
    total: totalProcessCount(counts),
    desiredCoordinators: desiredCoordinatorCount(configuration),
    faultTolerance: redundancyOf(configuration.redundancy_mode).faultTolerance,
    desiredDatabaseConfiguration: desired,
    configureArguments: command.ok ? withSortedFlags(command.value) : command.error,
    coordinatorHardLimits: coordinatorHardLimits(configuration),
  };
  return Object.entries(actual)
    .filter(([item]) => vector[item] !== undefined)
    .map(([item, value]) => {
      const expected = vector[item];
      const isText = item === "configureArguments" && typeof expected === "string";
      return compare(item, isText ? withSortedFlags(expected) : expected, value);
    });
}

/** Flags of the form `name:=value` have no order of their own. */
function withSortedFlags(command: string): string {
  const words = command.split(" ");
  const flags = words.filter((word) => word.includes(":=")).toSorted();
  return words.map((word) => (word.includes(":=") ? (flags.shift() ?? word) : word)).join(" ");
}

const stepLimit = 30;

/** Each step starts from the one before it as the database would report it. */
export function checkStaging(vector: Case): Outcome[] {
  const final = vector["final"] as DatabaseConfiguration;
  let current = vector["start"] as DatabaseConfiguration;
  const steps: DatabaseConfiguration[] = [];
  while (!isSameConfiguration(current, final) && steps.length < stepLimit) {
    const step = nextConfiguration(current, final);
    steps.push(step);
    current = normalConfiguration(step, final);
  }
  const expected = vector["steps"] as readonly unknown[];
  return [
    compare("number of steps", expected.length, steps.length),
    ...expected.map((step, index) => compare(`step ${index + 1}`, step, steps[index])),
  ];
}

interface VectorCandidate {
  ID: string;
  LocalityData?: Record<string, string>;
  Priority?: number;
}

export function checkChoice(vector: Case): Outcome[] {
  const configuration = specOf(vector).databaseConfiguration ?? {};
  const limits = (vector["hardLimits"] ?? {}) as LocalityLimits;
  const candidates = (vector["candidates"] as VectorCandidate[]).map((candidate) => ({
    id: candidate.ID,
    localities: candidate.LocalityData ?? {},
    priority: candidate.Priority,
  }));
  const rules = choiceRules(configuration, vector["count"] as number, limits);
  const { chosen, missing } = chooseDistributed(candidates, rules);
  const ids = chosen.map((candidate) => candidate.id);
  return [
    compare("chosenIDsInOrder", vector["chosenIDsInOrder"] ?? [], ids),
    compare("whether it fails", vector["error"] !== undefined, missing > 0),
  ];
}

export function checkAddress(vector: Case): Outcome[] {
  const result = parseAddress(String(vector["in"]));
  if (vector["error"] !== undefined || !result.ok) {
    return [compare("whether it fails", vector["error"] !== undefined, !result.ok)];
  }
  const address = result.value;
  return [
    compare("string", vector["string"], formatAddress(address)),
    compare("stringWithoutFlags", vector["stringWithoutFlags"], withoutFlags(address)),
    compare("machineAddress", vector["machineAddress"], hostOf(formatAddress(address))),
    compare("fromHostname", vector["fromHostname"] ?? false, address.fromHostname),
  ];
}
