// What there is to know of a resource besides its state, in the few words that a table has room for.
// Rules: spec/plugin.md [VW11].
import { ageMs } from "./page.ts";
import type { ExplainPage, Verdict } from "./page.ts";
import { formatAge } from "./words.ts";

/** States that say all there is to say. */
const plainVerdicts: readonly Verdict[] = ["healthy", "deleting"];

export function whatText(
  page: Pick<ExplainPage, "asOf" | "headline" | "verdict" | "waits"> &
    Partial<Pick<ExplainPage, "doing" | "stale">>,
): string {
  const { verdict, waits, doing = [], stale = [], headline } = page;
  if (stale[0] !== undefined) return stale[0];
  const first = waits.find(({ concern }) => concern !== "passing") ?? waits[0];
  if (first !== undefined) {
    const age = ageMs(page, first.since);
    const since = age === undefined ? "" : ` for ${formatAge(age)}`;
    const more = waits.length > 1 ? `, and ${waits.length - 1} more` : "";
    return `${first.reason} (${first.step})${since}${more}`;
  }
  if (plainVerdicts.includes(verdict)) return "";
  return doing.length > 0 ? doing.join("; ") : headline;
}
