// The matrix of all commands in this process; test/kubectl has the same through the real kubectl.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Command } from "commander";
import { pluginProgram } from "../../src/cli/plugin-program.ts";
import { describeMatrix, matrixRows } from "./matrix.ts";
import { runPlugin } from "./plugin-harness.ts";

describeMatrix("[PL9] in this process", {
  run: (world, args, options) => runPlugin(world, args, options),
  // A single write of anybody shows.
  stored: (world) => Promise.resolve(world.world.server.context.store.revision),
  ...{ canAsk: true, isPatient: true, refusalsMaximum: Infinity, skip: false },
});

/** The words of each command that does something. */
function commandsOf(command: Command, before: readonly string[] = []): string[] {
  return command.commands.flatMap((child) => {
    const words = [...before, child.name()];
    return child.commands.length === 0 ? [words.join(" ")] : commandsOf(child, words);
  });
}

test("[PL9] the matrix has every command", () => {
  const tried = matrixRows
    .flatMap((row) => [row.args, ...row.refused.map(([args]) => args)])
    .map((args) => `${args.join(" ")} `);
  const program = pluginProgram(() => assert.fail("nobody is asked"));
  const missing = commandsOf(program).filter(
    (words) => !tried.some((one) => one.startsWith(`${words} `)),
  );
  assert.deepEqual(missing, []);
});
