// Questions and the answers that count.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { confirm, confirmByName } from "./prompt.ts";
import type { Terminal } from "./session.ts";

type Asking = Pick<Terminal, "canAsk" | "note" | "readLine">;

function terminal(answers: readonly string[] | undefined): { out: Asking; asked: () => string } {
  const left = [...(answers ?? [])];
  let asked = "";
  const out: Asking = {
    note: (text) => void (asked += text),
    canAsk: answers !== undefined,
    readLine: async () => left.shift(),
  };
  return { out, asked: () => asked };
}

async function outcome(run: Promise<void>): Promise<string> {
  return run.then(
    () => "agreed",
    (error: Error) => error.message,
  );
}

const stopped = "stopped by your answer; nothing was changed";
const cases: readonly (readonly [string[] | undefined, object, string, number])[] = [
  [["y"], {}, "agreed", 1],
  [["YES"], {}, "agreed", 1],
  [["what?", "", " yes "], {}, "agreed", 3],
  [["n"], {}, stopped, 1],
  [["maybe", "No"], {}, stopped, 2],
  [[], {}, stopped, 1],
  [Array.from({ length: 20 }, () => "hm"), {}, stopped, 10],
  [undefined, { yes: true }, "agreed", 0],
  [undefined, { wait: false }, "agreed", 0],
  [undefined, { dryRun: true }, "agreed", 0],
  [
    undefined,
    {},
    "this has to be confirmed, and standard input is no terminal: give --yes to do it without a question; nothing was changed",
    0,
  ],
];

for (const [answers, flags, expected, questions] of cases) {
  test(`[PL4] ${JSON.stringify(answers)} with ${JSON.stringify(flags)}`, async () => {
    const { out, asked } = terminal(answers);
    assert.equal(await outcome(confirm({ out }, "Do it", flags)), expected);
    assert.equal(asked(), "Do it [y/n]: ".repeat(questions));
  });
}

const flag = "--cluster-is";
const named: readonly (readonly [string[] | undefined, string | undefined, string])[] = [
  [["sample"], undefined, "agreed"],
  [["y"], undefined, "that is not sample; nothing was changed"],
  [[], undefined, "that is not sample; nothing was changed"],
  [undefined, "sample", "agreed"],
  [undefined, "other", "--cluster-is names other, but the cluster is sample; nothing was changed"],
  [
    undefined,
    undefined,
    "this has to be confirmed, and standard input is no terminal: give --cluster-is sample to do it without a question; nothing was changed",
  ],
];

for (const [answers, name, expected] of named) {
  test(`[PL5] ${JSON.stringify(answers)} with the name ${name}`, async () => {
    const { out } = terminal(answers);
    const given = { flag, ...(name === undefined ? {} : { name }) };
    assert.equal(await outcome(confirmByName({ out }, "It is lost.", "sample", given)), expected);
  });
}
