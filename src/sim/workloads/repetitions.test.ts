// Which commands repeat what the database has just carried out. Rules: spec/world.md [W68].
import assert from "node:assert/strict";
import { test } from "node:test";
import { Repetitions } from "./repetitions.ts";

test("[W68] a command that was carried out a moment ago is a repetition, and later none", () => {
  const repetitions = new Repetitions();
  assert.equal(repetitions.problem("exclude a", 1_000), undefined);
  repetitions.noteCarriedOut("exclusion", "exclude a", 1_000);
  assert.match(repetitions.problem("exclude a", 3_500) ?? "", /^carried out 2500 ms ago/);
  assert.equal(repetitions.problem("exclude a b", 3_500), undefined);
  assert.equal(repetitions.problem("exclude a", 4_500), undefined);
});

test("[W68] who goes back to a configuration after another one repeats nothing", () => {
  const repetitions = new Repetitions();
  repetitions.noteCarriedOut("configuration", "configure logs=3", 1_000);
  assert.notEqual(repetitions.problem("configure logs=3", 1_500), undefined);
  repetitions.noteCarriedOut("configuration", "configure logs=4", 2_000);
  assert.equal(repetitions.problem("configure logs=3", 2_500), undefined);
  assert.notEqual(repetitions.problem("configure logs=4", 2_500), undefined);
});
