// A status that travels as its changes arrives as it was sent.
import assert from "node:assert/strict";
import { deserialize, serialize } from "node:v8";
import { test } from "node:test";
import { randomInteger, seededRandom } from "../../env/random.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { changesOf, receivedStatus, StatusSender, withChanges } from "./status-transfer.ts";
import type { HeldStatus } from "./status-transfer.ts";

function statusOf(cluster: object): DatabaseStatus {
  return { cluster } as DatabaseStatus;
}

test("[DB57] the first status is whole, the next one is what has changed", () => {
  const sender = new StatusSender();
  const first = statusOf({ processes: { a: { address: "1", roles: [{ role: "log" }] }, b: {} } });
  const second = statusOf({ processes: { a: { address: "2", roles: [{ role: "log" }] }, c: {} } });
  assert.deepEqual(sender.answer(null, first, 9), {
    ...{ type: "whole", number: 1, bytes: 9, status: first },
  });
  const answer = sender.answer(1, second, 8);
  const processes = { inside: { a: { set: { address: "2" } } }, set: { c: {} }, gone: ["b"] };
  const changes = { inside: { cluster: { inside: { processes } } } };
  assert.deepEqual(answer, { type: "changes", number: 2, bytes: 8, changes });
  const received = receivedStatus(answer, { number: 1, status: first });
  assert.deepEqual(received?.status, second);
});

test("[DB57] a status without a change is the same object, and so is every part without one", () => {
  const sender = new StatusSender();
  const make = (generation: number): DatabaseStatus =>
    statusOf({ generation, processes: { a: { roles: [{ role: "log", id: "1" }] } } });
  sender.answer(null, make(1), 9);
  const held: HeldStatus = { number: 1, status: make(1) };
  assert.equal(receivedStatus(sender.answer(1, make(1), 9), held)?.status, held.status);
  const next = receivedStatus(sender.answer(2, make(2), 9), { ...held, number: 2 })?.status;
  assert.equal(next?.cluster?.processes, held.status.cluster?.processes);
  assert.equal(next?.cluster?.generation, 2);
});

test("[DB57] who asks with another number than the last one gets the whole status", () => {
  const sender = new StatusSender();
  for (const known of [null, 7, null]) {
    assert.equal(sender.answer(known, statusOf({}), 1).type, "whole");
  }
});

test("[DB57] an answer that makes no sense is none", () => {
  const held: HeldStatus = { number: 1, status: {} };
  for (const answer of [
    ...[null, "x", [], {}, { type: "whole", number: 1, bytes: 1 }, { type: "whole", status: {} }],
    { type: "whole", number: 1, bytes: 1, status: "x" },
    { type: "dance", number: 1, bytes: 1 },
  ]) {
    assert.equal(receivedStatus(answer, held), undefined, JSON.stringify(answer));
  }
  const changes = { type: "changes", number: 2, bytes: 1, changes: undefined };
  assert.equal(receivedStatus(changes, undefined), undefined);
});

test("[DB57] whatever changes, it arrives as it was sent", () => {
  const random = seededRandom(11);
  const below = (end: number): number => randomInteger(random, 0, end - 1);
  const names = ["a", "b", "c", "__proto__", "constructor", "gone"];
  const any = (depth: number): unknown => {
    const kind = below(depth > 0 ? 7 : 4);
    if (kind === 0) return null;
    if (kind === 1) return below(3);
    if (kind === 2) return below(2) === 0;
    if (kind === 3) return names[below(names.length)];
    if (kind === 4) return Array.from({ length: below(4) }, () => any(depth - 1));
    return record(depth - 1);
  };
  const record = (depth: number): object => {
    const kept = names.filter(() => below(2) === 0);
    return Object.fromEntries(kept.map((name) => [name, any(depth)]));
  };
  for (let round = 0; round < 3_000; round += 1) {
    const [before, after] = [record(4), record(4)];
    const changes = deserialize(serialize(changesOf(before, after))) as ReturnType<
      typeof changesOf
    >;
    assert.deepEqual(withChanges(before, changes), after, JSON.stringify([before, after]));
  }
});
