// The application of a life against a store of its own: what it does when nobody answers, and that it notices what it must.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../env/random.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { createKeyValueStore } from "../key-value/store.ts";
import type { CommitFault } from "../key-value/store.ts";
import { Bank } from "./bank.ts";

function benchOf(fault: () => CommitFault | undefined = () => undefined) {
  const clock = new VirtualClock(0);
  const random = seededRandom(1);
  let isAway = false;
  const store = createKeyValueStore({
    ...{ clock, random, commitFault: fault },
    latencyMs: () => 1,
    unavailable: () => (isAway ? new Promise(() => {}) : undefined),
  });
  const violations: string[] = [];
  const bank = new Bank({
    transact: (body, options) => store.transact(body, options, seededRandom(2)),
    random: seededRandom(3),
    violated: (text) => violations.push(text),
  });
  const live = async (looks: number): Promise<void> => {
    for (let look = 0; look < looks; look += 1) {
      bank.move();
      await clock.advance(5_000);
    }
  };
  const setAway = (value: boolean): void => void (isAway = value);
  return { store, bank, violations, live, setAway };
}

const put = (text: string, value: string | undefined): [Buffer, Buffer | undefined] => [
  Buffer.from(text),
  value === undefined ? undefined : Buffer.from(value),
];

test("[W141] money moves with every look, and a database that is away is waited for", async () => {
  const { bank, violations, live, setAway } = benchOf();
  await live(10);
  assert.equal(bank.transfers, 9);
  assert.ok(bank.takeMoved());
  setAway(true);
  await live(10);
  assert.equal(bank.transfers, 9);
  assert.equal(bank.takeMoved(), false);
  assert.deepEqual(violations, []);
});

test("[W141] a commit of which nobody knows what became is not made twice and not lost", async () => {
  const chance = seededRandom(7);
  const faults = ["unknown-committed", "unknown-lost", "conflict", undefined] as const;
  const { bank, violations, live } = benchOf(() => faults[Math.floor(chance.next() * 4)]);
  await live(300);
  assert.equal(bank.transfers, 299);
  assert.deepEqual(violations, []);
});

test("[W141] money that is gone, accounts that are gone and transfers that are taken back are noticed", async () => {
  const spoilt: [string, string | undefined][] = [
    ["bank/account2", "1"],
    ["bank/account3", undefined],
    ["bank/number", "3"],
    ["bank/number", undefined],
  ];
  for (const [key, value] of spoilt) {
    const { store, violations, live } = benchOf();
    await live(10);
    store.put(...put(key, value));
    await live(1);
    assert.equal(violations.length, 1, `${key} ${value}`);
  }
  const { store, violations, live } = benchOf();
  await live(10);
  store.write([{ begin: "bank/", end: "bank0" }], new Map());
  await live(1);
  assert.match(violations[0] ?? "", /the bank holds/);
});
