// Transactions over the channel to a client process: order, repetition, limits and the loss of the process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "../../env/virtual-clock.ts";
import type { FdbTransaction } from "../admin.ts";
import { bytesOfText, textOfBytes } from "../bytes.ts";
import { isFdbError } from "../error.ts";
import type { ChildRequest, Mutation, TransactionCall } from "./child-messages.ts";
import { transactIn } from "./process-transaction.ts";
import { clientStage } from "../../../test/fixtures/client-stage.ts";
import { healthy } from "../../../test/fixtures/scripted-child.ts";
import type { ScriptedChild } from "../../../test/fixtures/scripted-child.ts";

type Answer = (child: ScriptedChild, request: ChildRequest) => void;

function stage(answer: Answer) {
  const { clock, children, open } = clientStage({ script: healthy(answer) });
  let lastId = 0;
  const database = open("only");
  const transact = <T>(body: (transaction: FdbTransaction) => Promise<T>, timeoutMs = 10_000) =>
    transactIn({ clock, database, nextId: () => ++lastId }, body, { timeoutMs, lockAware: true });
  const all = (): ChildRequest[] => children.flatMap(({ requests }) => requests);
  return { clock, children, database, transact, all };
}

function shown(mutations: readonly Mutation[]): string[] {
  return mutations.map((mutation) => {
    if (mutation.type === "set") {
      return `${textOfBytes(mutation.key)}=${textOfBytes(mutation.value)}`;
    }
    return mutation.type === "clear"
      ? `-${textOfBytes(mutation.key)}`
      : `-${textOfBytes(mutation.begin)}..${textOfBytes(mutation.end)}`;
  });
}

const text = bytesOfText;

function inputOf(request: ChildRequest | undefined): TransactionCall {
  assert.ok(request);
  return request.input as TransactionCall;
}

test("[DB20] writes reach the child before the read or commit that follows them", async () => {
  const { transact, all, children, database } = stage((child, request) =>
    child.answer(request, request.name === "read" ? text("found") : null),
  );
  const found = await transact(async (transaction) => {
    transaction.set(text("a"), text("1"));
    transaction.clear(text("b"));
    const value = await transaction.get(text("a"));
    transaction.clearRange(text("c"), text("d"));
    return value && textOfBytes(value);
  });
  assert.equal(found, "found");
  const calls = all().map(({ name, input }) => [name, shown((input as TransactionCall).mutations)]);
  assert.deepEqual(calls, [
    ["read", ["a=1", "-b"]],
    ["commit", ["-c..d"]],
  ]);
  assert.deepEqual(inputOf(all()[0]).options, { lockAware: true });
  assert.deepEqual(children[0]?.forgotten, [1]);
  database.close();
});

test("[DB21] the library says whether a failed transaction may be tried again", async () => {
  let commits = 0;
  const { transact, all, database } = stage((child, request) => {
    if (request.name === "commit" && ++commits < 3) child.fail(request, 1020);
    else child.answer(request, null);
  });
  let runs = 0;
  await transact(async (transaction) => {
    runs += 1;
    transaction.set(text("a"), text(String(runs)));
  });
  assert.equal(runs, 3);
  const names = all().map(({ name }) => name);
  assert.deepEqual(names, ["commit", "onError", "commit", "onError", "commit"]);
  assert.deepEqual(shown(inputOf(all().at(-1)).mutations), ["a=3"]);
  database.close();
});

test("[DB21] what the library does not repeat is the caller's error", async () => {
  const { transact, database } = stage((child, request) => child.fail(request, 2004));
  await assert.rejects(
    transact((transaction) => transaction.get(text("\u00ff"))),
    { code: 2004 },
  );
  database.close();
});

test("[DB21] an error of the body itself ends the transaction uncommitted", async () => {
  const { transact, all, children, database } = stage((child, request) =>
    child.answer(request, null),
  );
  await assert.rejects(
    transact(async (transaction) => {
      transaction.set(text("a"), text("1"));
      await transaction.get(text("a"));
      throw new TypeError("a mistake");
    }),
    TypeError,
  );
  assert.deepEqual(
    all().map(({ name }) => name),
    ["read"],
  );
  assert.deepEqual(children[0]?.forgotten, [1]);
  database.close();
});

test("[DB22] a child lost in a commit means another try with another child, from the beginning", async () => {
  const { clock, children, transact, all, database } = stage((child, request) => {
    if (request.name === "commit" && children.length === 1) child.crash();
    else child.answer(request, null);
  });
  let runs = 0;
  const work = transact(async (transaction) => {
    runs += 1;
    await transaction.get(text("a"));
    transaction.set(text("a"), text("1"));
  });
  await clock.advance(1_000);
  await work;
  assert.equal(runs, 2);
  const ids = all().map(({ input }) => (input as TransactionCall).transaction);
  assert.deepEqual(ids, [1, 1, 2, 2]);
  database.close();
});

test("[DB23] a transaction ends in its time, also when its body waits for something else", async () => {
  const { clock, transact, database } = stage((child, request) => child.answer(request, null));
  let inside: FdbTransaction | undefined;
  const work = transact((transaction) => {
    inside = transaction;
    return new Promise<void>(() => {});
  }, 3_000);
  const failure = assert.rejects(work, (error) => isFdbError(error, 1031));
  await clock.advance(3_000);
  await failure;
  await assert.rejects(inside?.get(text("a")) ?? Promise.resolve(), { code: 1025 });
  await settle();
  database.close();
});
