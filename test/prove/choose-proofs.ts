// Which proofs run on a machine, and why the others do not. Rules: spec/proof.md [PROVE2].
import { UsageError } from "../../src/env/command-error.ts";
import type { Machine } from "./machine.ts";
import { lackOf } from "./proof.ts";
import type { Proof } from "./proof.ts";

export interface Choice {
  readonly chosen: readonly Proof[];
  readonly skipped: readonly SkippedProof[];
}

export interface SkippedProof {
  readonly proof: Proof;
  readonly why: string;
}

/** Names in `only` may be beginnings: `real` takes the real half. What is named must be there. */
export function chooseProofs(
  proofs: readonly Proof[],
  machine: Machine,
  only: readonly string[],
): Choice {
  for (const name of only) {
    if (proofs.some((proof) => proof.name.startsWith(name))) continue;
    const names = proofs.map((proof) => proof.name).join(", ");
    throw new UsageError(`--only ${name}: there is no such proof. There are ${names}`);
  }
  const wanted = proofs.filter(
    ({ name }) => only.length === 0 || only.some((beginning) => name.startsWith(beginning)),
  );
  const chosen: Proof[] = [];
  const skipped: SkippedProof[] = [];
  for (const proof of wanted) {
    const why = lackOf(proof, machine);
    if (why === undefined) chosen.push(proof);
    else skipped.push({ proof, why });
  }
  return { chosen, skipped };
}
