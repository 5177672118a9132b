// The page of `plan` as text, with the writer of `explain`. Rules: spec/plugin.md [VW13].
import { nameList } from "../../plan/wait.ts";
import { renderPage, subtitleOf } from "../explain/text.ts";
import type { Screen } from "../text/table.ts";
import type { PlannedAct, PlanPage } from "./plan-view.ts";

export function planText(page: PlanPage, screen: Screen): string {
  const { namespace, cluster, ahead } = page;
  return renderPage(
    {
      ...page,
      title: `${namespace}/${cluster}`,
      subtitle: subtitleOf(page),
      facts: [],
      rows: [],
      sections: [{ title: "About to do", items: aheadItems(page, ahead) }],
      objects: [],
    },
    screen,
  );
}

function aheadItems(page: PlanPage, ahead: readonly PlannedAct[]): string[] {
  return ahead.length > 0 ? ahead.map(actText) : [nothingAhead(page)];
}

/** What is said where no act is known to be ahead. */
export function nothingAhead({ verdict, generation, reconciledGeneration }: PlanPage): string {
  switch (verdict) {
    case "healthy":
      return `nothing: generation ${reconciledGeneration ?? generation} is in force`;
    case "paused":
      return "nothing while spec.skip is true";
    case "asleep":
      return "nothing while spec.hibernate is true; the database wakes when it is false";
    case "invalid":
      return "nothing until the spec is corrected";
    case "unseen":
    case "unknown":
      return "nobody knows: no operator tells";
    case "deleting":
      return "let go of the cluster";
    default:
      return "what it says it waits for, and nothing else that it has told";
  }
}

function actText({ text, processGroups, detail }: PlannedAct): string {
  const names = processGroups.length === 0 ? "" : `: ${nameList(processGroups)}`;
  const more =
    detail === undefined ? "" : processGroups.length === 0 ? `: ${detail}` : ` (${detail})`;
  return `${text}${names}${more}`;
}
