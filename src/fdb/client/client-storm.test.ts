// Everything that can go wrong with client processes, by chance, in virtual time: afterwards every database that is left
// answers, has one place, and nothing is left over.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomInteger, randomPick, seededRandom } from "../../env/random.ts";
import type { PooledDatabase } from "./pooled-database.ts";
import { clientStage } from "../../../test/fixtures/client-stage.ts";
import type { ScriptedChild } from "../../../test/fixtures/scripted-child.ts";

const seeds = 12;
const steps = 150;
const limitMs = 10_000;

test("[DB15] [DB51] [DB52] [DB53] [DB55] after a storm all that is open answers, and all that is closed is gone", async () => {
  for (let seed = 1; seed <= seeds; seed += 1) await storm(seed);
});

async function storm(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const chance = (oneIn: number): boolean => randomInteger(random, 1, oneIn) === 1;
  const weather = { isStormy: true, canStart: true };
  const made = clientStage({
    limits: { databasesPerProcess: randomInteger(random, 1, 6), quarantineProcesses: 3 },
    canStart: () => weather.canStart,
    isReady: () => !weather.isStormy || !chance(5),
    script: (child, request) => {
      const isBad = weather.isStormy && chance(8);
      if (isBad && chance(2)) return;
      if (isBad && chance(3)) return child.crash();
      if (isBad && chance(4)) return child.say("nonsense");
      const bytes = chance(9) ? 9_000_000 : 10_000;
      if (request.name === "ping") {
        const rssBytes = weather.isStormy && chance(30) ? 1.5e9 : 5e7;
        child.answer(request, { rssBytes });
      } else if (isBad) child.fail(request, 1031);
      else if (request.name === "status") child.answerStatus(request, { client: {} }, bytes);
      else child.answer(request, null);
    },
  });
  const { clock, children, open, group } = made;
  const opened: PooledDatabase[] = [];
  let late = 0;
  let underWay = 0;
  const ask = (database: PooledDatabase): void => {
    const askedMs = clock.nowMs();
    const work = chance(3)
      ? database.call("configure", { text: "double" }, limitMs)
      : database.status(limitMs);
    underWay += 1;
    void work
      .catch(() => {})
      .finally(() => {
        underWay -= 1;
        if (clock.nowMs() - askedMs > limitMs) late += 1;
      });
  };
  for (let step = 0; step < steps; step += 1) {
    if (opened.length < 25 && chance(3)) opened.push(open(`d${step}`));
    if (opened.length > 0 && chance(12)) {
      const [gone] = opened.splice(randomInteger(random, 0, opened.length - 1), 1);
      gone?.close();
    }
    for (const each of opened) if (chance(3)) ask(each);
    if (chance(40)) group.replaceAll();
    if (chance(25)) weather.canStart = !weather.canStart;
    const alive = children.filter(({ isOver }) => !isOver);
    if (alive.length > 0 && chance(15)) randomPick(random, alive).crash();
    await clock.advance(randomInteger(random, 0, 8_000));
  }
  weather.isStormy = false;
  weather.canStart = true;
  // Longer than the longest pause, and than a child may take until it is ready.
  await clock.advance(120_000);
  assert.deepEqual([late, underWay], [0, 0], `seed ${seed}`);
  for (const each of opened) assert.ok(await each.status(limitMs), `seed ${seed}`);
  const places = children.filter(({ isOver }) => !isOver).flatMap(placesOf);
  assert.equal(places.length, opened.length, `seed ${seed}: ${places.join(" ")}`);
  assert.equal(new Set(places).size, opened.length, `seed ${seed}`);
  // Well for longer than the longest quarantine: nobody is kept apart any more.
  for (let hour = 0; hour < 3; hour += 1) {
    for (const each of opened) await each.status(limitMs);
    await clock.advance(3_600_000);
  }
  const odd = group.processes.filter(({ isWard, isRetired }) => isWard || isRetired);
  assert.deepEqual(odd, [], `seed ${seed}`);
  for (const each of opened) each.close();
  assert.equal(children.filter(({ isOver }) => !isOver).length, 0, `seed ${seed}`);
  assert.equal(clock.pendingTimers, 0, `seed ${seed}`);
}

function placesOf({ databases }: ScriptedChild): string[] {
  return [...databases.values()];
}
