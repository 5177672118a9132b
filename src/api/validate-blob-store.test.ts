// What is wrong with the place of a backup. Rules: spec/backup.md [BK6].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { blobStoreProblems } from "./validate-backup.ts";

test("[BK6] a bucket that no store can have is refused, and usual names are not", () => {
  const problemsOf = (bucket: string | undefined): string[] =>
    blobStoreProblems(
      { accountName: "key@host", ...(bucket === undefined ? {} : { bucket }) },
      "spec.blobStoreConfiguration",
    ).map(({ field, message }) => `${field}: ${message}`);
  for (const bucket of [undefined, "fdb-backups", "my.bucket_2", "Team-A", "a/b"]) {
    assert.deepEqual(problemsOf(bucket), []);
  }
  for (const bucket of [
    "my bucket",
    "a?b",
    "a&b",
    "a#b",
    "tab\t",
    "a%20b",
    "a@b",
    'a"b',
    "bücket",
    "a\\b",
  ]) {
    const [first = ""] = problemsOf(bucket);
    assert.match(first, /^spec\.blobStoreConfiguration\.bucket: no bucket can be called/);
  }
});
