// Flags as Go writes them, and what they give to a command.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Command } from "commander";
import { addConnectionFlags, addWriteFlags, booleanOption } from "./flags.ts";

function parsed(args: readonly string[]): unknown {
  const program = addConnectionFlags(new Command("kubectl fdb")).exitOverride();
  program.configureOutput({ writeErr: () => {} });
  let flags: unknown;
  addWriteFlags(addConnectionFlags(program.command("do")))
    .addOption(booleanOption("-e, --exclusion [boolean]", "", true))
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

const plain = { exclusion: true, wait: true, names: [] };
const wrong = /'=?maybe' is invalid.*It must be "=true" or "=false"/;
const cases: readonly (readonly [string, object | RegExp])[] = [
  ["do", plain],
  ["do a b", { ...plain, names: ["a", "b"] }],
  ["do -w=false", { ...plain, wait: false }],
  ["do --wait=false -e=false a", { ...plain, wait: false, exclusion: false, names: ["a"] }],
  ["do --exclusion", plain],
  ["do --exclusion=T", plain],
  ["do -e=maybe", wrong],
  ["do -e maybe", wrong],
  ["-n x do", { ...plain, namespace: "x" }],
  ["do -n x", { ...plain, namespace: "x" }],
  ["do --as eve --as-group a --as-group b", { ...plain, as: "eve", asGroup: ["a", "b"] }],
  ["do --request-timeout 1m30s", { ...plain, requestTimeout: 90_000 }],
  ["do --request-timeout 0", { ...plain, requestTimeout: 3_600_000 }],
  ["do --request-timeout soon", /It must be a duration from 0\.001s to 3600s/],
  ["do --dry-run -y", { ...plain, dryRun: true, yes: true }],
];

for (const [line, expected] of cases) {
  test(`[PL1] [PL8] ${line}`, () => {
    const found = parsed(line.split(" "));
    if (expected instanceof RegExp) assert.match(String(found), expected);
    else assert.deepEqual(found, expected);
  });
}
