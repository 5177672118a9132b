// The table of error codes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { errorCodes } from "./error.ts";

test("[KUBE77] every error code has a title and a remedy, in sentences", () => {
  for (const [code, { title, remedy }] of Object.entries(errorCodes)) {
    assert.match(code, /^[A-Z][A-Za-z]+$/);
    assert.match(title, /^[A-Z].*[^.]$/);
    assert.match(remedy, /^[A-Z].*\.$/);
  }
});
