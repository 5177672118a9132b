// Flags as Go writes them, and what they give to a command.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Command } from "commander";
import { addConnectionFlags } from "./flags.ts";

function parsed(args: readonly string[]): unknown {
  const program = addConnectionFlags(new Command("kubectl fdb")).exitOverride();
  program.configureOutput({ writeErr: () => {} });
  let flags: unknown;
  addConnectionFlags(program.command("do"))
    .argument("[names...]")
    .action((_names, _own, command: Command) => {
      flags = { ...command.optsWithGlobals(), names: command.processedArgs[0] as unknown };
    });
  try {
    program.parse(args, { from: "user" });
  } catch (error) {
    return (error as Error).message;
  }
  return flags;
}

const plain = { names: [] };
const cases: readonly (readonly [string, object | RegExp])[] = [
  ["do", plain],
  ["do a b", { ...plain, names: ["a", "b"] }],
  ["-n x do", { ...plain, namespace: "x" }],
  ["do -n x", { ...plain, namespace: "x" }],
  ["do --as eve --as-group a --as-group b", { ...plain, as: "eve", asGroup: ["a", "b"] }],
  ["do --request-timeout 1m30s", { ...plain, requestTimeout: 90_000 }],
  ["do --request-timeout 0", { ...plain, requestTimeout: 3_600_000 }],
  ["do --request-timeout soon", /It must be a duration from 0\.001s to 3600s/],
];

for (const [line, expected] of cases) {
  test(`[PL1] ${line}`, () => {
    const found = parsed(line.split(" "));
    if (expected instanceof RegExp) assert.match(String(found), expected);
    else assert.deepEqual(found, expected);
  });
}
