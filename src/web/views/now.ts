// What is going on with a cluster: the pages of `kubectl fdb explain` and `kubectl fdb plan` in one, without their ages.
// Rules: spec/web.md [WEB5].
import { reasonOf } from "../../plan/reasons/registry.ts";
import { explainCluster } from "../../plugin/explain/page.ts";
import type { ExplainInput } from "../../plugin/explain/page.ts";
import { nothingAhead } from "../../plugin/plan/plan-text.ts";
import { planPage } from "../../plugin/plan/plan-view.ts";
import { classRows } from "../../plugin/status/status-view.ts";
import type { NowModel } from "../view-model.ts";
import { urgencyOf } from "./card.ts";
import { restoreCommand } from "./commands.ts";

/** What backups need is added where they are known. */
export function nowModel(
  input: ExplainInput,
  nowMs: number,
): Omit<NowModel, "backupWaits" | "urgency"> {
  const {
    asOf: _,
    cluster: _name,
    namespace: _namespace,
    doing: _doing,
    ...page
  } = explainCluster(input, nowMs, "time");
  const plan = planPage(input, nowMs);
  return {
    ...page,
    quarantine: page.quarantine.map((entry) => ({
      ...entry,
      command: restoreCommand(input.cluster, entry.volumeClaim),
    })),
    ownUrgency: urgencyOf(page.verdict, page.waits),
    ahead: plan.ahead,
    ...(plan.ahead.length === 0 ? { nothingAhead: nothingAhead(plan) } : {}),
    classes: classRows(input.cluster),
    meanings: meaningsOf(page.waits),
  };
}

/** The paragraphs of the manual about what is waited for. */
export function meaningsOf(waits: readonly { readonly reason: string }[]): Record<string, string> {
  return Object.fromEntries(
    waits.flatMap(({ reason }) => {
      const meaning = reasonOf(reason)?.meaning;
      return meaning === undefined ? [] : [[reason, meaning]];
    }),
  );
}
