// Settings that the resource may carry but that this version of the operator does not act on. Accepting them in silence
// would let a user believe in a protection that is not there. Carries the rule API34.
import type { ClusterSpec } from "./cluster-spec.ts";
import { problem, type ValidationProblem } from "./problem.ts";

export function unusedSettings(spec: ClusterSpec): readonly ValidationProblem[] {
  const found: ValidationProblem[] = [];
  if (spec.distributionConfig?.enabled === true) {
    const message = "fault domains are not packed by this version: each host is one";
    found.push(problem("spec.distributionConfig.enabled", true, message, "leave it out"));
  }
  return found;
}
