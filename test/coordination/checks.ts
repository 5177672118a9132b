// Each check of an act of several instances, switched off in turn: the search must find what it keeps from happening.
// Rules: spec/coordination.md [CO63].
import type { SafetyCheck } from "../../src/plan/snapshot.ts";
import { scenarios, search } from "./search.ts";

export interface ProvenCheck {
  readonly check: SafetyCheck;
  /** In which scenario something goes wrong without it. */
  readonly scenario: string;
  readonly violation: string | undefined;
}

/** The scenario that needs the check most, so that nobody has to search through the others. */
const places: readonly (readonly [SafetyCheck, string])[] = [
  ["lock", "all process groups replaced"],
  ["freshLook", "readiness that is taken back"],
  ["clearBeforeKill", "a second knob in one"],
  ["settledWindow", "a knob in both"],
];

export async function provenChecks(): Promise<readonly ProvenCheck[]> {
  const found: ProvenCheck[] = [];
  for (const [check, name] of places) {
    const scenario = scenarios.find((one) => one.name === name);
    if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
    const { violation } = await search(scenario, new Set([check]));
    found.push({ check, scenario: name, violation });
  }
  return found;
}
