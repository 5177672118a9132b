// How `npm test` reports: failures in full, skipped tests with their reason, and one closing line that counts.
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

interface Finished {
  name: string;
  file?: string;
  skip?: string | boolean;
  todo?: string | boolean;
  details: { type?: string; error?: unknown; passed?: boolean };
}

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: string[] = [];
  const skips: string[] = [];
  for await (const event of source) {
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const test = event.data as Finished;
    if (test.details.type === "suite") continue;
    if (test.skip !== undefined && test.skip !== false) {
      counts.skipped += 1;
      skips.push(`skipped: ${test.name}${typeof test.skip === "string" ? `: ${test.skip}` : ""}\n`);
    } else if (event.type === "test:pass") {
      counts.passed += 1;
      if (counts.passed % 50 === 0) yield ".";
    } else {
      counts.failed += 1;
      failures.push(describe(test));
      yield "F";
    }
  }
  yield `\n${skips.join("")}${failures.join("")}`;
  yield `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
}

function describe(test: Finished): string {
  const { error } = test.details;
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const text =
    cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause, { depth: 6 });
  return `\nFAILED: ${test.name}\n  in ${test.file ?? "unknown file"}\n${text.replaceAll(/^/gm, "  ")}\n`;
}
