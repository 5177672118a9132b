// Who works on a resource that several operators see, question by question. Rules: spec/overlap.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { formatQuestion, parseQuestion, questionAnnotation } from "../../api/operator-question.ts";
import type { OperatorQuestion } from "../../api/operator-question.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { formatTime } from "../../kube/time.ts";
import { answerMs, askAgainMs, lastClaimMs, standingOf } from "./standing.ts";

const nowMs = Date.UTC(2026, 0, 1, 12);
const [own, other, third] = ["fdb-operator:a/x", "fdb-operator:b/x", "fdb-operator:c/x"] as const;

/** How long ago each wrote the status, in seconds, and what is asked. */
function metadataOf(writes: Record<string, number>, question?: OperatorQuestion): ObjectMeta {
  const annotations: Record<string, string> =
    question === undefined ? {} : { [questionAnnotation]: formatQuestion(question) };
  const managedFields = Object.entries(writes).map(([manager, seconds]) => ({
    ...{ manager, operation: "Update", subresource: "status" },
    time: formatTime(nowMs - seconds * 1000),
  }));
  return { annotations, managedFields };
}

const asked = (by: string, secondsAgo: number, answer?: readonly [string, number]) => ({
  askedBy: by,
  askedMs: nowMs - secondsAgo * 1000,
  ...(answer && { answer: { by: answer[0], atMs: nowMs - answer[1] * 1000 } }),
});
const askOf = (askedOf: string) => ({ askedBy: own, askedMs: nowMs, askedOf });
const ask = askOf(other);
const answered = { by: own, atMs: nowMs };

const table: readonly (readonly [string, ObjectMeta, object])[] = [
  ["[OVER6] nobody has written anything", metadataOf({}), { isBack: false }],
  ["[OVER6] it wrote last itself", metadataOf({ [own]: 9, [other]: 99 }), { isBack: false }],
  [
    "[OVER6] another program wrote last",
    metadataOf({ manager: 1, "fdb-operator": 2 }),
    { isBack: false },
  ],
  [
    "[OVER2] another one wrote last",
    metadataOf({ [own]: 99, [other]: 9 }),
    { isBack: true, other, question: ask },
  ],
  [
    "[OVER2] its question is open",
    metadataOf({ [other]: 99 }, asked(own, 20)),
    { isBack: true, other, untilMs: nowMs - 20_000 + answerMs },
  ],
  [
    "[OVER2] another one's question is open",
    metadataOf({ [other]: 99 }, asked(third, 20)),
    { isBack: true, other, untilMs: nowMs - 20_000 + answerMs },
  ],
  [
    "[OVER2] it works and is asked",
    metadataOf({ [own]: 99 }, asked(other, 20)),
    { isBack: false, other, question: { ...asked(other, 20), answer: answered } },
  ],
  [
    "[OVER2] both wrote in the same second, and the other one asked first",
    metadataOf({ [own]: 30, [other]: 30 }, asked(other, 20)),
    { isBack: false, other, question: { ...asked(other, 20), answer: answered } },
  ],
  [
    "[OVER2] it was asked a while ago, and the other one is about to take over",
    metadataOf({ [own]: 99 }, asked(other, 61)),
    { isBack: false, other, question: { ...asked(other, 61), answer: answered } },
  ],
  [
    "[OVER2] it was asked long ago",
    metadataOf({ [own]: 999 }, asked(other, 241)),
    { isBack: false },
  ],
  [
    "[OVER3] it was answered",
    metadataOf({ [other]: 99 }, asked(own, 50, [other, 49])),
    { isBack: true, other, untilMs: nowMs - 49_000 + askAgainMs },
  ],
  [
    "[OVER3] somebody else was answered",
    metadataOf({ [other]: 99 }, asked(third, 50, [other, 49])),
    { isBack: true, other, untilMs: nowMs - 49_000 + askAgainMs },
  ],
  [
    "[OVER3] half an hour later it asks again",
    metadataOf({ [other]: 9_999 }, asked(own, 1_801, [other, 1_800])),
    { isBack: true, other, question: ask },
  ],
  [
    "[OVER4] nobody answers",
    metadataOf({ [other]: 9_999 }, asked(own, 60)),
    { isBack: true, other, question: { ...asked(own, 60), answer: answered } },
  ],
  [
    "[OVER4] it took over",
    metadataOf({ [other]: 99 }, asked(own, 61, [own, 1])),
    { isBack: false },
  ],
  [
    "[OVER4] another one that asked took over",
    metadataOf({ [own]: 99 }, asked(third, 61, [third, 1])),
    { isBack: true, other: third, question: askOf(third) },
  ],
  [
    "[OVER4] a question from before it was stopped is asked again",
    metadataOf({ [other]: 9_999 }, asked(own, 3_600)),
    { isBack: true, other, question: ask },
  ],
  [
    "[OVER4] another one took over in the second of its last status",
    metadataOf({ [own]: 1 }, asked(third, 61, [third, 1])),
    { isBack: true, other: third, question: askOf(third) },
  ],
  [
    "[OVER5] it has answered",
    metadataOf({ [own]: 99 }, asked(other, 600, [own, 599])),
    { isBack: false, other, untilMs: nowMs - 599_000 + askAgainMs + answerMs },
  ],
  [
    "[OVER5] whoever asked is gone",
    metadataOf({ [own]: 9_999 }, asked(other, 1_900, [own, 1_860])),
    { isBack: false },
  ],
  [
    "[OVER7] a question from the future",
    metadataOf({ [own]: 99 }, asked(other, -3_600)),
    { isBack: false, other, question: { askedBy: other, askedMs: nowMs, answer: answered } },
  ],
  [
    "[OVER7] an answer from the future ends like one from now",
    metadataOf({ [other]: 99 }, asked(own, 10, [other, -600])),
    { isBack: true, other, untilMs: nowMs + askAgainMs },
  ],
  [
    "[OVER7] an answer from the far future to somebody else holds nobody up",
    metadataOf({ [other]: 99 }, asked(third, 10, [other, -86_400])),
    { isBack: true, other, question: ask },
  ],
  [
    "[OVER7] nor does one to itself, beyond half an hour",
    metadataOf({ [other]: 99 }, asked(own, 10, [other, -86_400])),
    { isBack: true, other, untilMs: nowMs - 10_000 + askAgainMs },
  ],
  [
    "[OVER7] nor does a question from the far future",
    metadataOf({ [other]: 99 }, asked(third, -86_400)),
    { isBack: true, other, question: ask },
  ],
  [
    "[OVER7] nor does a status from the far future",
    metadataOf({ [other]: -86_400 }, asked(own, 61, [own, 1])),
    { isBack: false },
  ],
  [
    "[OVER7] of two from the far future the later one counts",
    metadataOf({ [other]: -86_400, [own]: -86_401 }),
    { isBack: false },
  ],
];

for (const [title, metadata, expected] of table) {
  test(title, () => assert.deepEqual(standingOf(own, metadata, nowMs), expected));
}

test("[OVER8] an answer from before it worked on the cluster holds for a minute", () => {
  const answeredAgo = (ago: number) =>
    metadataOf({ [other]: 99 }, asked(own, ago + 1, [other, ago]));
  const standing = (ago: number, clusterAgo?: number) =>
    standingOf(own, answeredAgo(ago), nowMs, clusterAgo && nowMs - clusterAgo * 1000);
  const untilMs = nowMs - 40_000 + answerMs;
  assert.deepEqual(standing(40, 30), { isBack: true, other, untilMs });
  assert.deepEqual(standing(60, 30), { isBack: true, other, question: ask });
  const longMs = nowMs - 60_000 + askAgainMs;
  assert.deepEqual(standing(60, 90), { isBack: true, other, untilMs: longMs });
  assert.deepEqual(standing(60), { isBack: true, other, untilMs: longMs });
});

test("[OVER8] since when it works on a cluster is its last claim that can be right", () => {
  const claimMs = (metadata: ObjectMeta) => lastClaimMs(own, metadata, nowMs);
  assert.equal(claimMs(metadataOf({ [other]: 9 })), undefined);
  assert.equal(claimMs(metadataOf({ [own]: 9, [other]: 3 })), nowMs - 9_000);
  assert.equal(claimMs(metadataOf({ [own]: 9 }, asked(own, 70, [own, 5]))), nowMs - 5_000 + 1);
  assert.equal(claimMs(metadataOf({ [own]: -86_400 })), undefined);
});

test("[OVER2][OVER4] who was taken over from does not begin again by asking", () => {
  // The other one took over from this one and had no reason to write the status since.
  const before = metadataOf({ [own]: 9_999 }, asked(other, 7_000, [other, 6_900]));
  const { question } = standingOf(own, before, nowMs);
  const after = metadataOf({ [own]: 9_999 }, question);
  assert.deepEqual(standingOf(own, after, nowMs), {
    ...{ isBack: true, other, untilMs: nowMs + answerMs },
  });
  const answer = { by: other, atMs: nowMs };
  assert.deepEqual(standingOf(other, after, nowMs), {
    ...{ isBack: false, other: own, question: { ...question, answer } },
  });
});

test("[OVER7] what is no question is nobody's", () => {
  const texts = ["", "asked", "asked by me at noon", `asked by  at ${formatTime(nowMs)}`, "{}"];
  for (const text of [undefined, ...texts, `asked by ${"x".repeat(129)} at ${formatTime(nowMs)}`]) {
    assert.equal(parseQuestion(text), undefined, text);
  }
  for (const question of [asked(own, 5), asked(own, 5, [other, 1]), ask]) {
    assert.deepEqual(parseQuestion(formatQuestion(question)), question);
  }
});
