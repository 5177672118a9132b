// Several operators that come and go around one resource: no two work on it at once, and it is not left alone for long.
// Rules: spec/overlap.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { formatQuestion, questionAnnotation } from "../../api/operator-question.ts";
import { keyedRandom } from "../../env/keyed-random.ts";
import { randomInteger } from "../../env/random.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { formatTime } from "../../kube/time.ts";
import { answerMs, askAgainMs, standingOf } from "./standing.ts";

const [stepMs, hourMs, startMs] = [250, 3_600_000, Date.UTC(2026, 0, 1)];

/** What the API server has; a write over an older version of it is refused. */
interface Resource {
  readonly version: number;
  readonly question: string | undefined;
  readonly writes: Readonly<Record<string, number>>;
}

function metadataOf({ question, writes }: Resource): ObjectMeta {
  const managedFields = Object.entries(writes).map(([manager, atMs]) => ({
    ...{ manager, operation: "Update", subresource: "status", time: formatTime(atMs) },
  }));
  const annotations: Record<string, string> =
    question === undefined ? {} : { [questionAnnotation]: question };
  return { annotations, managedFields };
}

/** How long the resource was left alone at most while somebody was there. */
function walk(seed: number): number {
  const random = keyedRandom(seed, "operators");
  const any = (most: number): number => randomInteger(random, 0, most);
  let stored: Resource = { version: 0, question: undefined, writes: {} };
  const operators = Array.from({ length: 2 + (seed % 3) }, (_, index) => ({
    ...{ name: `fdb-operator:n${index}/x`, isThere: any(9) < 7, seen: stored },
    ...{ nextMs: startMs + any(1_000), untilMs: 0, aheadMs: any(3_000) - 1_500 },
    changesMs: startMs + any(600_000),
  }));
  let [workedMs, aloneMs] = [startMs, 0];
  for (let nowMs = startMs; nowMs < startMs + 3 * hourMs; nowMs += stepMs) {
    for (const operator of operators) {
      if (nowMs >= operator.changesMs) {
        operator.isThere = !operator.isThere;
        operator.changesMs = nowMs + 30_000 + any(operator.isThere ? 3_000_000 : 600_000);
        [operator.untilMs, operator.nextMs, operator.seen] = [0, nowMs + 1_000, stored];
      }
      if (!operator.isThere) continue;
      // The local copy is behind for a while.
      if (operator.seen !== stored && any(3) === 0) {
        operator.seen = stored;
        operator.nextMs = Math.min(operator.nextMs, nowMs + 100);
      }
      if (nowMs < operator.untilMs || nowMs < operator.nextMs) continue;
      const { name, seen, aheadMs } = operator;
      const standing = standingOf(name, metadataOf(seen), nowMs + aheadMs);
      const isNew = Object.keys(seen.writes).length === 0;
      const isWriting =
        standing.question !== undefined || (!standing.isBack && (isNew || any(4) === 0));
      if (isWriting && seen !== stored) {
        operator.nextMs = nowMs + stepMs;
      } else if (standing.question !== undefined) {
        const question = formatQuestion(standing.question);
        operator.seen = stored = { ...stored, version: stored.version + 1, question };
        operator.nextMs = nowMs + stepMs;
      } else if (standing.isBack) {
        operator.nextMs =
          nowMs + Math.min(300_000, Math.max(stepMs, (standing.untilMs ?? 0) - nowMs));
      } else {
        const writes = { ...stored.writes, [name]: nowMs };
        if (isWriting) operator.seen = stored = { ...stored, version: stored.version + 1, writes };
        operator.untilMs = nowMs + any(20_000);
        operator.nextMs = operator.untilMs + any(5_000);
        workedMs = Math.max(workedMs, operator.untilMs);
        const working = operators.filter(({ isThere, untilMs }) => isThere && untilMs > nowMs);
        assert.ok(
          working.length <= 1,
          `seed ${seed}: ${working.map((each) => each.name).join(", ")} at ${nowMs}`,
        );
      }
    }
    if (operators.every(({ isThere }) => !isThere)) workedMs = Math.max(workedMs, nowMs);
    aloneMs = Math.max(aloneMs, nowMs - workedMs);
  }
  return aloneMs;
}

test("[OVER2] [OVER3] [OVER4] of operators that come and go one works, and never two", () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const aloneMs = walk(seed);
    assert.ok(aloneMs < askAgainMs + 5 * answerMs, `seed ${seed}: alone for ${aloneMs} ms`);
  }
});
