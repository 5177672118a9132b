// The page about a run: what ran on what, with which figures, and what was skipped and why. Rules: spec/proof.md [PROVE4].
import type { SkippedProof } from "./choose-proofs.ts";
import type { Machine } from "./machine.ts";
import type { Proof } from "./proof.ts";

export type Verdict = "proven" | "FAILED" | "TOOK TOO LONG" | "interrupted";

export interface ProofResult {
  readonly proof: Proof;
  readonly verdict: Verdict;
  readonly seconds: number;
  readonly figures: readonly string[];
}

export interface ProofRun {
  /** As a day, for example 2026-11-17. */
  readonly day: string;
  readonly operatorVersion: string;
  readonly machine: Machine;
  readonly results: readonly ProofResult[];
  readonly skipped: readonly SkippedProof[];
}

export function proofPage(run: ProofRun): string {
  const { results, skipped } = run;
  const parts = [
    headOf(run),
    ...(results.length === 0 ? [] : [resultTable(results)]),
    ...results.flatMap(figureList),
    ...(skipped.length === 0 ? [] : [skippedList(skipped)]),
  ];
  return parts.join("\n\n");
}

/** One line for people who do not read further. */
export function summaryOf({ results, skipped }: Pick<ProofRun, "results" | "skipped">): string {
  const count = (verdict: Verdict): number =>
    results.filter((result) => result.verdict === verdict).length;
  const parts = [
    `${count("proven")} proven`,
    `${count("FAILED") + count("TOOK TOO LONG")} failed`,
    ...(count("interrupted") === 0 ? [] : [`${count("interrupted")} interrupted`]),
    `${skipped.length} skipped`,
  ];
  return parts.join(", ");
}

function headOf(run: ProofRun): string {
  const { versions, cores, memoryGiB } = run.machine;
  const database =
    versions.length === 0 ? "no FoundationDB" : `FoundationDB ${versions.join(", ")}`;
  const counts = summaryOf(run);
  return `The run of ${run.day}, version ${run.operatorVersion} of the operator, ${cores} cores, ${memoryGiB} GiB, ${database}: ${counts}.`;
}

function resultTable(results: readonly ProofResult[]): string {
  const rows = results.map(
    ({ proof, verdict, seconds }) =>
      `| \`${proof.name}\` | ${proof.what} | ${verdict} | ${duration(seconds)} |`,
  );
  return ["| proof | what | outcome | time |", "|---|---|---|---|", ...rows].join("\n");
}

function figureList({ proof, figures }: ProofResult): string[] {
  if (figures.length === 0) return [];
  return [[`\`${proof.name}\`:`, "", ...figures.map((figure) => `- ${figure}`)].join("\n")];
}

function skippedList(skipped: readonly SkippedProof[]): string {
  return ["Skipped:", "", ...skippedLines(skipped).map((line) => `- ${line}`)].join("\n");
}

/** Those that lack the same are told together. */
export function skippedLines(skipped: readonly SkippedProof[]): string[] {
  const reasons = [...new Set(skipped.map(({ why }) => why))];
  return reasons.map((reason) => {
    const own = skipped.filter(({ why }) => why === reason);
    return `${own.map(({ proof }) => `\`${proof.name}\` (${proof.what})`).join(", ")}: ${reason}`;
  });
}

export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

const [begin, end] = ["<!-- begin of the page -->", "<!-- end of the page -->"] as const;

/** A file that has a place for the page keeps all around it; any other becomes the page. */
export function placed(file: string | undefined, page: string): string {
  const [from, to] = [file?.indexOf(begin) ?? -1, file?.indexOf(end) ?? -1];
  if (file === undefined || from < 0 || to < from) return `# Proof\n\n${page}\n`;
  return `${file.slice(0, from + begin.length)}\n\n${page}\n\n${file.slice(to)}`;
}
