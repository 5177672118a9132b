// Completion for shells: what the program answers when kubectl or a script asks what may stand at the cursor. It never fails:
// somebody is typing. Rules: spec/plugin.md [VW18]-[VW20].
import type { Command } from "commander";
import { sleep } from "../../env/clock.ts";
import type { Clock } from "../../env/clock.ts";
import type { ConnectionFlags, OpenSession } from "../session.ts";
import { completionText, wantedAt } from "./complete.ts";
import type { Wanted } from "./complete.ts";
import { liveNames } from "./live-names.ts";

const deadlineMs = 2_000;

export async function completions(
  program: Command,
  open: OpenSession,
  words: readonly string[],
  clock: Clock,
): Promise<string> {
  const wanted = wantedAt(program, words);
  const ending = new AbortController();
  const late = sleep(clock, deadlineMs, ending.signal).then((): string[] => []);
  const names = await Promise.race([namesOf(wanted, open, ending.signal), late]);
  ending.abort();
  return completionText(wanted, names);
}

async function namesOf(
  { live, flags, given }: Wanted,
  open: OpenSession,
  signal: AbortSignal,
): Promise<string[]> {
  if (live === undefined) return [];
  try {
    const { namespace, kubeconfig, context } = flags;
    const asked: ConnectionFlags = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
      requestTimeout: deadlineMs,
    };
    const session = await open(asked);
    try {
      return await liveNames(live, session, given, signal);
    } finally {
      session.close();
    }
  } catch {
    // No server, no rights, no such kubeconfig: there is nothing to offer.
    return [];
  }
}
