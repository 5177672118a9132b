// Tests of the comparison of metadata.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { mergedPatch, missingMetadata } from "./metadata-check.ts";

test("[P19] what contains the wanted labels and annotations is right", () => {
  const wanted = { labels: { a: "1" }, annotations: { b: "2" } };
  const actual = { labels: { a: "1", own: "x" }, annotations: { b: "2", other: "y" } };
  assert.equal(missingMetadata(actual, wanted), undefined);
});

test("[P19] labels and annotations that are absent or differ are named together", () => {
  const wanted = { labels: { a: "1", c: "3" }, annotations: { b: "2" } };
  assert.deepEqual(missingMetadata({ labels: { a: "0", c: "3" } }, wanted), {
    labels: { a: "1" },
    annotations: { b: "2" },
  });
});

test("[P4] two patches become one, the later winning", () => {
  const first = { annotations: { a: "1", b: "1" } };
  assert.deepEqual(mergedPatch(first, { labels: { l: "1" }, annotations: { b: "2" } }), {
    labels: { l: "1" },
    annotations: { a: "1", b: "2" },
  });
  assert.deepEqual(mergedPatch(first, {}), first);
});
