// The order of clusters, the filter and the summary. Rules: spec/page.md [PAGE6].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterCard, Urgency } from "../view-model.ts";
import { isWanted, sortedCards, summaryText } from "./card-order.ts";

function card(cluster: string, urgency: Urgency, ownUrgency = urgency): ClusterCard {
  const fact = { answer: "yes", text: "" } as const;
  return {
    ...{ cluster, namespace: "default", redundancyMode: "triple", doing: [], stale: [] },
    ...{
      verdict: urgency === 0 ? "healthy" : "stuck",
      headline: "Healthy for 3d",
      urgency,
      ownUrgency,
    },
    ...{ version: { wanted: "7.3.63" }, serving: fact, sound: fact },
    reconciled: { ...fact, generation: 1 },
    processGroups: {
      ...{ total: 3, wanted: 3, missing: 0 },
      ...{ well: 3, outdated: 0, starting: 0, failing: 0, leaving: 0 },
    },
    waits: { person: 0, look: 0, passing: 0 },
  };
}

test("[PAGE6] who needs somebody comes first, then clusters come by name, as people count", () => {
  const names = ["a-10", "a-2", "b", "a-2-x", "z", "a"];
  const cards = Object.fromEntries(
    names.map((name) => [`default/${name}`, card(name, name === "z" ? 3 : name === "b" ? 1 : 0)]),
  );
  assert.deepEqual(
    sortedCards(cards).map(([, { cluster }]) => cluster),
    ["z", "b", "a", "a-2", "a-10", "a-2-x"],
  );
});

test("[PAGE6] who needs somebody itself comes before who does for a backup", () => {
  const cards = { "d/a": card("a", 3, 0), "d/b": card("b", 3), "d/c": card("c", 2) };
  const names = sortedCards(cards).map(([, { cluster }]) => cluster);
  assert.deepEqual(names, ["b", "a", "c"]);
});

test("[PAGE6] every word of the filter has to be in the card, in any case", () => {
  const one = card("orders", 3);
  const wanted = ["", "  ", "ORD", "default/orders", "triple somebody", "stuck"];
  assert.deepEqual(
    wanted.map((filter) => isWanted(one, filter)),
    [true, true, true, true, true, true],
  );
  assert.equal(isWanted(one, "orders ledger"), false);
});

test("[PAGE6] the summary counts who needs what", () => {
  const of = (...urgencies: ClusterCard["urgency"][]): string =>
    summaryText(Object.fromEntries(urgencies.map((one, index) => [String(index), card("a", one)])));
  assert.equal(of(), "None");
  assert.equal(of(0), "1 cluster, all well");
  assert.equal(
    of(3, 0, 2, 1, 3),
    "5 clusters: 2 need somebody, 1 worth a look, 1 on its way, 1 well",
  );
});
