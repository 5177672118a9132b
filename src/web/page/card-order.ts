// In which order clusters are shown, which of them a filter leaves, and what they come to. Pure.
// Rules: spec/page.md [PAGE6].
import { counted } from "../../model/counted.ts";
import { byText } from "../../model/process-row.ts";
import type { ClusterCard, PageModel, Urgency } from "../view-model.ts";
import { chipOf, verdictWords } from "./words.ts";

type Cards = PageModel["clusters"];

/** Who needs somebody comes first, those before others that need it themselves and not for a backup, then by name. */
export function sortedCards(cards: Cards): [string, ClusterCard][] {
  return Object.entries(cards).toSorted(
    ([leftKey, left], [rightKey, right]) =>
      right.urgency - left.urgency ||
      right.ownUrgency - left.ownUrgency ||
      byText(leftKey, rightKey),
  );
}

/** Every word of the filter is somewhere in what the card says. */
export function isWanted(card: ClusterCard, filter: string): boolean {
  const { namespace, cluster, verdict, headline, redundancyMode, version } = card;
  const chip = chipOf({
    ...card,
    reason: card.waits.first?.reason,
    backup: card.backups?.worst?.backup,
  });
  const state = [verdict, verdictWords[verdict], ...chip];
  const told = [`${namespace}/${cluster}`, headline, redundancyMode, version.wanted, ...state]
    .join(" ")
    .toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => told.includes(word));
}

export function summaryText(cards: Cards): string {
  const all = Object.values(cards);
  const of = (urgency: Urgency): number => all.filter((card) => card.urgency === urgency).length;
  const [needing, looking, working, well] = [of(3), of(2), of(1), of(0)];
  if (all.length === 0) return "None";
  if (well === all.length) return `${counted(all.length, "cluster")}, all well`;
  const parts = [
    needing === 0 ? "" : `${needing} ${needing === 1 ? "needs" : "need"} somebody`,
    looking === 0 ? "" : `${looking} worth a look`,
    working === 0 ? "" : `${working} on ${working === 1 ? "its" : "their"} way`,
    well === 0 ? "" : `${well} well`,
  ];
  return `${counted(all.length, "cluster")}: ${parts.filter((part) => part !== "").join(", ")}`;
}
