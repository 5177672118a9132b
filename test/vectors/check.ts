// Checks a file of vectors: inputs with the results that a compatible operator computes for them. Any file of the form
// of test/data/vectors.json can be checked; nothing here knows its cases.
import { checkBackupCase } from "./backup-case.ts";
import { checkPodCase } from "./pod-case.ts";
import type { Outcome } from "./comparison.ts";
import { checkAddress, checkChoice, checkCounts, checkStaging } from "./model-cases.ts";

export type Case = Readonly<Record<string, unknown>>;

const sections: Readonly<Record<string, (vector: Case) => Outcome[]>> = {
  podCases: checkPodCase,
  processCountCases: checkCounts,
  configurationStaging: checkStaging,
  localityChoice: checkChoice,
  processAddresses: checkAddress,
  backupCases: checkBackupCase,
};

export interface Report {
  outcomes: readonly Outcome[];
  /** Sections of the file that nothing here knows. */
  unknownSections: readonly string[];
}

/** The text is no file of vectors. */
export class NotVectors extends Error {}

export function checkVectors(text: string): Report {
  const file = parse(text);
  const names = Object.keys(file);
  const known = names.filter((name) => sections[name]);
  if (known.length === 0) {
    throw new NotVectors(`it has none of the sections ${Object.keys(sections).join(", ")}`);
  }
  const outcomes = known.flatMap((section) => checkSection(section, file[section]));
  return { outcomes, unknownSections: names.filter((name) => !sections[name]) };
}

function parse(text: string): Case {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new NotVectors(`it is not JSON: ${String(error)}`);
  }
  if (!isCase(value)) throw new NotVectors("it is not a JSON object");
  return value;
}

function isCase(value: unknown): value is Case {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkSection(section: string, cases: unknown): Outcome[] {
  if (!Array.isArray(cases)) throw new NotVectors(`its section ${section} is not a list`);
  return cases.flatMap((vector: unknown, index) => {
    if (!isCase(vector)) throw new NotVectors(`${section}[${index}] is not an object`);
    const name = vector["name"] ?? vector["in"];
    const label = `${section} ${typeof name === "string" ? name : index}`;
    return checkCase(section, vector).map((outcome) => ({
      ...outcome,
      name: outcome.name === "" ? label : `${label}: ${outcome.name}`,
    }));
  });
}

/** A case that lacks what the check needs is a failed one and must not end the whole run. */
function checkCase(section: string, vector: Case): Outcome[] {
  try {
    return sections[section]?.(vector) ?? [];
  } catch (error) {
    return [{ name: "the case itself", difference: `cannot be checked: ${String(error)}` }];
  }
}
