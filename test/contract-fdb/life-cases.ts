// The life of a database cluster under its operator, in the order in which it happens. Each case starts from a cluster at
// rest with data in it, and ends so, with all data read back. Rules: spec/real-database.md [DB70]-[DB84].
import { lifeBackupCases } from "./life-backup-cases.ts";
import { lifeChangeCases } from "./life-change-cases.ts";
import { lifePreviewCases } from "./life-preview-cases.ts";
import { lifeProofCases } from "./life-proof-cases.ts";
import { regionCase } from "./life-region-case.ts";
import { lifeSurvivalCases } from "./life-survival-cases.ts";
import { lifeTroubleCases } from "./life-trouble-cases.ts";
import type { LifeCase, LifeTarget } from "./life-target.ts";
import { untilAtRest } from "./life-target.ts";

/** One cluster lives through all of these. */
export const allLifeCases: readonly LifeCase[] = [
  ...lifeBackupCases,
  ...lifeProofCases,
  ...lifeChangeCases,
  ...lifeTroubleCases,
  ...lifePreviewCases,
  ...lifeSurvivalCases,
];

/** Each with a life of its own. */
export const separateLifeCases: readonly LifeCase[] = [regionCase];

/** Gives what the case measured. */
export async function runLifeCase(
  target: LifeTarget,
  { run }: LifeCase,
): Promise<readonly string[]> {
  await target.data.write();
  const measured = await run(target);
  await untilAtRest(target);
  await target.data.verify();
  return measured ?? [];
}
