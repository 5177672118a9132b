// Asking before something is done. Rules: spec/plugin.md [PL4], [PL5].
import { CommandError } from "../env/command-error.ts";
import type { WriteFlags } from "./flags.ts";
import type { Terminal } from "./session.ts";

interface Asking {
  readonly out: Pick<Terminal, "canAsk" | "note" | "readLine">;
}

const attemptsMax = 10;

/** A flag has answered already. */
export function isAgreed({ yes, wait }: WriteFlags): boolean {
  return yes === true || wait === false;
}

/** Resolves when the person agrees; otherwise says that nothing was done. With --dry-run nobody is asked. */
export async function confirm({ out }: Asking, text: string, flags: WriteFlags): Promise<void> {
  if (flags.dryRun === true || isAgreed(flags)) return;
  if (!out.canAsk) throw nobodyThere("give --yes to do it without a question");
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    out.note(`${text} [y/n]: `);
    const answer = (await out.readLine())?.trim().toLowerCase();
    if (answer === undefined) break;
    if (answer === "y" || answer === "yes") return;
    if (answer === "n" || answer === "no") break;
  }
  throw new CommandError("stopped by your answer; nothing was changed");
}

/**
 * For what cannot be taken back: the name of the cluster is typed, or given with `flag`. --yes alone is not enough, since
 * people have it in their fingers and in scripts.
 */
export async function confirmByName(
  { out }: Asking,
  text: string,
  name: string,
  given: { readonly dryRun?: boolean; readonly name?: string; readonly flag: string },
): Promise<void> {
  if (given.dryRun === true) return;
  if (given.name !== undefined) {
    if (given.name === name) return;
    throw new CommandError(
      `${given.flag} names ${given.name}, but the cluster is ${name}; nothing was changed`,
    );
  }
  if (!out.canAsk) throw nobodyThere(`give ${given.flag} ${name} to do it without a question`);
  out.note(`${text}\nType the name of the cluster to go on: `);
  const answer = (await out.readLine())?.trim();
  if (answer === name) return;
  throw new CommandError(`that is not ${name}; nothing was changed`);
}

const lossWords = "lose data";

/** The second consent for what may lose data: words that nobody types by habit, or a flag that says the same. */
export async function confirmLoss({ out }: Asking, isAccepted: boolean): Promise<void> {
  if (isAccepted) return;
  if (!out.canAsk) throw nobodyThere("give --accept-loss as well to do it without a question");
  out.note(`Type "${lossWords}" if the loss above is accepted: `);
  if ((await out.readLine())?.trim() === lossWords) return;
  throw new CommandError("the loss was not accepted; nothing was changed");
}

function nobodyThere(remedy: string): CommandError {
  return new CommandError(
    `this has to be confirmed, and standard input is no terminal: ${remedy}; nothing was changed`,
  );
}
