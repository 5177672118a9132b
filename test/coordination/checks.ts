// Each check of an act of several instances, left out in turn: the search must find what it keeps from happening.
// Rules: spec/coordination.md [CO63].
import { withoutStage } from "../fixtures/without-check.ts";
import type { MissingStage } from "../fixtures/without-check.ts";
import { scenarios, search } from "./search.ts";

export interface ProvenCheck {
  readonly check: string;
  /** In which scenario something goes wrong without it. */
  readonly scenario: string;
  readonly violation: string | undefined;
}

/** The scenario that needs the check most, so that nobody has to search through the others. */
const places: readonly (readonly [MissingStage | "settledWindow", string])[] = [
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
    const { violation } = await search(
      scenario,
      check === "settledWindow" ? { settledMs: 0 } : { stages: withoutStage(check) },
    );
    found.push({ check, scenario: name, violation });
  }
  return found;
}
