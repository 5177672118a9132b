// What the operator says of a restore beyond what the API server can judge.
import type { FoundationDBRestore } from "./restore.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { blobStoreProblems } from "./validate-backup.ts";
import { parameterProblems } from "./validate-parameters.ts";

export function validateRestore(
  restore: Pick<FoundationDBRestore, "spec">,
): readonly ValidationProblem[] {
  const { spec } = restore;
  return [
    ...blobStoreProblems(spec.blobStoreConfiguration, "spec.blobStoreConfiguration"),
    ...parameterProblems(spec.customParameters ?? [], "spec.customParameters", {
      protectedNames: [],
    }),
    ...(spec.keyRanges ?? []).flatMap((range, index) =>
      (["start", "end"] as const)
        .filter((end) => !isEscapedKey(range[end]))
        .map((end) =>
          problem(
            `spec.keyRanges[${index}].${end}`,
            range[end],
            "a backslash must begin \\xBB or be doubled",
            "write other bytes as \\xBB with two hexadecimal digits",
          ),
        ),
    ),
  ];
}

function isEscapedKey(key: string): boolean {
  return /^(?:[^\\]|\\x[0-9a-fA-F]{2}|\\\\)*$/.test(key);
}
