// The figures of the last minutes. Rules: spec/web.md [WEB6].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sceneStatus } from "../../../test/web/cluster-scene.ts";
import { differences } from "../difference.ts";
import { noFigures, pointsMax, withLook } from "./figure-history.ts";
import type { DatabaseAnswer } from "../../plugin/database/ask-database.ts";

const answered = (hz: number): DatabaseAnswer => ({
  ...{ kind: "answered", pod: "p" },
  status: sceneStatus({}, { workload: { transactions: { committed: { hz } } } }),
});
const silent: DatabaseAnswer = { kind: "silent", why: "nobody answers" };

test("[WEB6] a look without an answer is a gap, and what is never told is no series", () => {
  const looks = [silent, answered(1.234567), silent, answered(3)];
  const history = looks.reduce((so, answer, index) => withLook(so, answer, index), noFigures);
  assert.deepEqual(history.timesMs, [0, 1, 2, 3]);
  assert.deepEqual(history.series.committedPerSecond, [null, 1.2346, null, 3]);
  assert.equal(history.series.dataCenterLagSeconds, undefined);
  assert.equal(history.silent, undefined);
  const { silent: why, last } = withLook(history, silent, 4);
  assert.deepEqual([why, last?.isAvailable], ["nobody answers", true], "the last answer is kept");
});

test("[WEB6] there are as many points as fit, and the next look is a small difference", () => {
  let history = noFigures;
  for (let index = 0; index < pointsMax + 5; index += 1) {
    history = withLook(history, answered(index), index);
  }
  for (const values of Object.values(history.series)) assert.equal(values.length, pointsMax);
  assert.equal(history.timesMs.length, pointsMax);
  assert.equal(history.timesMs[0], 5);
  const changes = differences(history, withLook(history, answered(7), 999));
  assert.ok(JSON.stringify(changes).length < 600, JSON.stringify(changes));
});

test("[WEB6] a database that tells of no process does not tell how many there are", () => {
  assert.equal(withLook(noFigures, answered(1), 0).series.processes, undefined);
});
