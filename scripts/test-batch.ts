// One batch of `npm test`: the tests of the named files, one after the other in this process, as scripts/test-reporter.ts tells it.
import asyncHooks from "node:async_hooks";
import { inspect } from "node:util";
import report from "./test-reporter.ts";

// The test runner follows every promise, to know which test an error belongs to that nobody caught. A world makes millions of
// promises, and that costs a fifth of all processor time. Such an error fails the batch all the same. The runner takes this
// function when it is loaded, so it is loaded after this.
const { createHook } = asyncHooks;
asyncHooks.createHook = (callbacks) =>
  createHook(Object.assign({}, callbacks, { trackPromises: false }));
const { run } = await import("node:test");

for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error: unknown) => {
    process.exitCode = 1;
    process.stdout.write(`\nFAILED: an error that no test caught: ${inspect(error)}\n\n`);
  });
}

// Which tests of the files are wanted; all of them when nothing is said. Rule: spec/house.md [HOUSE15].
const isLong = [/ \(long\)$/];
const length = process.env["TEST_LENGTH"];
const only =
  length === "short"
    ? { testSkipPatterns: isLong }
    : length === "long"
      ? { testNamePatterns: isLong }
      : {};
const events = run({ files: process.argv.slice(2), isolation: "none", ...only });
events.on("test:fail", () => {
  process.exitCode = 1;
});
events.compose(report).pipe(process.stdout);
