// Looks at commands to the database: what it has just carried out is not asked for again, since most commands cost a recovery
// each. Rules: spec/world.md [W68].
import type { ActKind } from "./stall-watch.ts";

/** So soon after a command nobody can have a reason to repeat it. */
const repetitionMs = 3_000;

export class Repetitions {
  readonly #carriedOut = new Map<string, { kind: ActKind; atMs: number }>();

  /** What is wrong with giving this command now; undefined when nothing is. */
  problem(text: string, nowMs: number): string | undefined {
    const agoMs = nowMs - (this.#carriedOut.get(text)?.atMs ?? -Infinity);
    return agoMs < repetitionMs
      ? `carried out ${agoMs} ms ago and given again: ${text}`
      : undefined;
  }

  noteCarriedOut(kind: ActKind, text: string, atMs: number): void {
    if (kind === "configuration") this.#forgetConfigurations();
    this.#carriedOut.set(text, { kind, atMs });
  }

  /** Who goes back to the configuration before the last one repeats nothing. */
  #forgetConfigurations(): void {
    for (const [text, { kind }] of this.#carriedOut) {
      if (kind === "configuration") this.#carriedOut.delete(text);
    }
  }
}

/** The text of a configuration without what moves data behind the scenes and costs no recovery. */
export function withoutWiggle(text: string): string {
  return text.replace(/ perpetual_storage_wiggle=\d/, "");
}
