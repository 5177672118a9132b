// How the smallest form of a life that goes wrong is found. Rules: spec/world.md [W111].
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LifeResult } from "../sim/workloads/life-walk.ts";
import { shrinkLife } from "./life-shrink.ts";

const ids = Array.from({ length: 20 }, (_, index) => String(index + 1));

function resultOf(failure: string | undefined): LifeResult {
  return { failure } as LifeResult;
}

/** A life that goes wrong as told by which of its events are there. */
async function shrink(failureOf: (kept: readonly string[]) => string | undefined, livesMax = 80) {
  let rounds = 0;
  const smallest = await shrinkLife(resultOf(failureOf(ids)), ids, {
    atOnce: 2,
    livesMax,
    live: async (attempts) => {
      rounds += 1;
      return attempts.map((without) =>
        resultOf(failureOf(ids.filter((id) => !without.includes(id)))),
      );
    },
  });
  const kept = ids.filter((id) => !smallest.without.includes(id));
  return { ...smallest, kept, rounds };
}

test("[W111] everything is left out that a failure does not need", async () => {
  const needs = ["3", "4", "17"];
  const failureOf = (kept: readonly string[]): string | undefined =>
    needs.every((id) => kept.includes(id)) ? `pod life-${kept.length} is lost` : undefined;
  const { kept, result, lives } = await shrink(failureOf);
  assert.deepEqual(kept, needs);
  assert.equal(result.failure, "pod life-3 is lost");
  assert.ok(lives <= 80, `${lives} lives`);
});

test("[W111] a life that goes wrong by itself needs nothing", async () => {
  const { kept } = await shrink(() => "data lost");
  assert.deepEqual(kept, []);
});

test("[W111] another failure is not the same one", async () => {
  const { kept } = await shrink((all) =>
    all.includes("5") ? "data lost: 12 shards" : "not within 180 minutes",
  );
  assert.deepEqual(kept, ["5"]);
});

test("[W111] it ends after so many lives with the best that was found", async () => {
  const { kept, lives, rounds } = await shrink(
    (all) => (all.includes("1") && all.includes("20") ? "data lost" : undefined),
    7,
  );
  assert.equal(lives, 7);
  assert.equal(rounds, 4);
  assert.ok(kept.includes("1") && kept.includes("20"));
});
