// What helps where a database does not fall asleep: usually it passes, but not while something else in the list waits for a
// person. Rules: spec/hibernation.md [HIB22].
import { concernOf } from "../reasons/concern.ts";
import { drainReasons } from "../reasons/drains.ts";
import { hibernationReasons } from "../reasons/hibernation.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";

/** These say themselves what they hold, or hold no sleep: who drains a node waits for it, and a smaller size is refused. */
const others: ReadonlySet<string> = new Set([
  ...Object.keys(hibernationReasons),
  ...Object.keys(drainReasons),
  "VolumeShrinkRefused",
]);

export function withHeldRemedy(waits: readonly NewWait[]): NewWait[] {
  const needing = waits
    .map(({ reason }) => reason)
    .filter((reason) => concernOf(reason) === "person" && !others.has(reason));
  if (needing.length === 0) return [...waits];
  const names = nameList([...new Set(needing)]);
  const remedy = `Mend what needs a person first: ${names}. The rest passes by itself. Or take spec.hibernate back.`;
  return waits.map((wait) => (wait.reason === "HibernationHeld" ? { ...wait, remedy } : wait));
}
