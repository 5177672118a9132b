// What is told of writes and commands that failed. Rules: spec/explain.md [E51], [E58].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { failureWaits } from "./failure-waits.ts";
import type { ActionFailure, Snapshot } from "../snapshot.ts";

const nowMs = 1_700_000_000_000;

function failure(change: Partial<ActionFailure>): ActionFailure {
  return {
    ...{ key: "", step: "addPods", what: "create pod sample-storage-1", message: "no" },
    ...{ retryAtMs: nowMs + 4_000, isCommand: false },
    ...change,
  };
}

function waitsOf(...failures: ActionFailure[]) {
  return failureWaits({ nowMs, failures } as unknown as Snapshot);
}

test("[E58] sixteen writes that fail for one cause are one wait, which names the first and how many more", () => {
  const answer = (name: string): string =>
    `pods "${name}" is forbidden: error looking up service account default/fdb: serviceaccount "fdb" not found`;
  const names = Array.from({ length: 16 }, (_, index) => `sample-storage-${index + 1}`);
  const found = waitsOf(
    ...names.map((name, index) =>
      failure({
        what: `create pod ${name}`,
        message: answer(name),
        retryAtMs: nowMs + 1_000 * (index + 1),
      }),
    ),
  );
  assert.equal(found.length, 1);
  assert.equal(
    found[0]?.message,
    `Could not create pod sample-storage-1 (and 15 more of this kind): ${answer("sample-storage-1")}`,
  );
  assert.equal(found[0]?.retryAfterMs, 1_000);
});

test("[E58] other answers, other kinds of objects and other steps are waits of their own", () => {
  const found = waitsOf(
    failure({}),
    failure({ message: "another answer" }),
    failure({ what: "create service sample-storage-1" }),
    failure({ step: "addServices" }),
  );
  assert.equal(found.length, 4);
});

const remedies: [message: string, isCommand: boolean, remedy: RegExp][] = [
  ['pods "a" is forbidden: exceeded quota: small, requested: pods=1', false, /ResourceQuota/],
  ['error looking up service account: serviceaccount "fdb" not found', false, /service account/],
  ['admission webhook "policy.example.com" denied the request', false, /webhook/],
  ['pods is forbidden: User "x" cannot create resource "pods"', false, /permission/],
  ['Pod "a" is invalid: spec.containers[0].image: Required value', false, /field of the spec/],
  ["the server is busy", false, /names the cause/],
  ["the configuration is invalid", true, /tried again/],
];

for (const [message, isCommand, remedy] of remedies) {
  test(`[E51] the remedy fits the answer: ${message}`, () => {
    assert.match(waitsOf(failure({ message, isCommand }))[0]?.remedy ?? "", remedy);
  });
}
