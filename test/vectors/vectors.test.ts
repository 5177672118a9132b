// The vectors that come with the project, and that the check sees a difference.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkVectors, NotVectors } from "./check.ts";
import type { Outcome } from "./comparison.ts";

const text = readFileSync(join(import.meta.dirname, "../data/vectors.json"), "utf8");

function failuresIn(source: string): readonly Outcome[] {
  return checkVectors(source).outcomes.filter((outcome) => outcome.difference !== undefined);
}

test("[B77][BK1][BK4] every vector is met", () => {
  const { outcomes, unknownSections } = checkVectors(text);
  assert.deepEqual(failuresIn(text), []);
  assert.deepEqual(unknownSections, []);
  assert.ok(outcomes.length > 400, `only ${outcomes.length} items were compared`);
});

test("[B77] a changed result is a failure of exactly that item", () => {
  const changes: [string, string, string][] = [
    ['"log":4', '"log":5', "counts"],
    [
      "395f5434b17a2ec0da2a22c987398adead6573f70662b5d859da335417879b72",
      "0".repeat(64),
      "podSpecHash",
    ],
    ["usable_regions=1 logs=3", "usable_regions=1 logs=4", "configureArguments"],
    ["--locality_zoneid=node1", "--locality_zoneid=node2", "expectedCommandLines"],
    ["restart_delay = 60", "restart_delay = 61", "configMapData"],
    ["f0c8a45ea6c3dd26c2dc2b5f3c699f38d613dab273d0f8a6eae6abd9a9569063", "0", "pvc"],
    ['"clusterIP":"None"', '"clusterIP":"Some"', "headlessService"],
    ['"machineAddress":"::1"', '"machineAddress":"::2"', "machineAddress"],
    ["dc53fe95b1864a524d007abf79128690fd702e3233bc9af2f8d31ef6ccc723a3", "0", "metadata"],
    ['"--copy-file","fdb.cluster"', '"--copy-file","other"', "spec"],
    ["key:sec%3Atok@host:443", "key:sec:tok@host:443", "url"],
  ];
  const compact = JSON.stringify(JSON.parse(text));
  for (const [from, to, item] of changes) {
    assert.ok(compact.includes(from), from);
    const failures = failuresIn(compact.replaceAll(from, to));
    assert.ok(
      failures.some(({ name }) => name.endsWith(item)),
      `${from}: ${item}`,
    );
  }
});

test("[B77] what is no file of vectors is refused, and a broken case is a failed one", () => {
  for (const source of ["", "[]", "{}", '{"podCases":{}}', '{"podCases":[1]}']) {
    assert.throws(() => checkVectors(source), NotVectors, source);
  }
  const [failure] = failuresIn('{"podCases":[{"name":"broken"}]}');
  assert.match(`${failure?.name} ${failure?.difference}`, /^podCases broken.*cannot be checked/);
});
