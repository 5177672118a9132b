// Every answer of a real API server in api-server-answers.json, asked of the engine.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { applyDefaults } from "./defaults.ts";
import { fieldErrorCause } from "../../../test/fixtures/field-errors.ts";
import { pruneObject } from "./prune.ts";
import type { StructuralSchema } from "./structural-schema.ts";
import { validateObject } from "./validate-object.ts";

interface Cause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

interface RecordedAnswer {
  readonly title: string;
  readonly spec?: unknown;
  readonly old?: unknown;
  /** What the server stored, if it accepted the object. */
  readonly stored?: unknown;
  readonly causes?: readonly Cause[];
  readonly unknownFields?: readonly string[];
}

const recorded = JSON.parse(
  readFileSync(new URL("./api-server-answers.json", import.meta.url), "utf8"),
) as { schema: StructuralSchema; answers: readonly RecordedAnswer[] };

function probe(spec: unknown): Record<string, unknown> {
  const object = { apiVersion: "example.org/v1", kind: "Probe", metadata: { name: "probe" } };
  return spec === undefined ? object : { ...object, spec };
}

/** The server walks maps in random order. */
function sorted(causes: readonly Cause[]): readonly string[] {
  return causes.map(({ field, reason, message }) => `${field} ${reason} ${message}`).toSorted();
}

test("[CEL1] the engine answers as a real API server in every recorded case", async (context) => {
  const { schema, answers } = recorded;
  assert.ok(answers.length >= 170);
  for (const answer of answers) {
    await context.test(`[CEL1] ${answer.title}`, () => {
      const pruned = pruneObject(schema, probe(answer.spec));
      const object = applyDefaults(schema, pruned.value) as { spec?: unknown };
      const old =
        "old" in answer
          ? applyDefaults(schema, pruneObject(schema, probe(answer.old)).value)
          : undefined;
      const causes = validateObject(schema, object, old).map(fieldErrorCause);
      assert.deepEqual(sorted(causes), sorted(answer.causes ?? []));
      assert.deepEqual(pruned.prunedPaths, [...(answer.unknownFields ?? [])].toSorted());
      if (answer.stored !== undefined) assert.deepEqual(object.spec, answer.stored);
    });
  }
});
