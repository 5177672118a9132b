// Small worlds in which everything is tried, and random lives. The script coordination-search tries the larger ones too
// and prints the figures. Rules: spec/coordination.md [CO60]-[CO63].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { provenChecks } from "./checks.ts";
import { liveOnce } from "./random-schedule.ts";
import { scenarios, search } from "./search.ts";

test("[CO60] [CO61] a knob in both of two instances is one kill, whatever the order and wherever one of them crashes (long)", async () => {
  const [restart] = scenarios;
  assert.ok(restart !== undefined);
  const quick = { ...restart, world: () => ({ ...restart.world(), isStatusApart: false }) };
  const { states, endings, violation } = await search(quick);
  assert.equal(violation, undefined);
  assert.ok(states > 5_000 && endings > 100, `${states} states, ${endings} endings`);
});

test("[CO62] in a hundred random lives of three instances nobody is harmed and all come to rest (long)", async () => {
  let [crashes, kills] = [0, 0];
  for (let seed = 1; seed <= 100; seed += 1) {
    const life = await liveOnce(seed);
    assert.equal(life.violation, undefined);
    crashes += life.crashes;
    kills += life.kills;
  }
  assert.ok(crashes > 100 && kills > 50, `${crashes} crashes, ${kills} kills`);
});

test("[CO63] without any one of the checks something goes wrong (long)", async () => {
  const expected = {
    lock: /a second time|two killers/,
    freshLook: /not ready/,
    clearBeforeKill: /two killers/,
    settledWindow: /2 kills for one knob/,
  };
  for (const { check, violation } of await provenChecks()) {
    assert.match(violation ?? "", expected[check as keyof typeof expected], check);
  }
});
