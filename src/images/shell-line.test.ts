// Shell lines of containers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseShellLine } from "./shell-line.ts";

test("[KUBELET46] words, quotes, substitutions and redirections", () => {
  assert.deepEqual(
    parseShellLine("fdbmonitor --a 'b c' \"d\" >> /log/f-$(date '+%Y-%m-%d').log 2>&1"),
    {
      words: ["fdbmonitor", "--a", "b c", "d"],
      redirections: ["/log/f-$(date '+%Y-%m-%d').log"],
    },
  );
  assert.deepEqual(parseShellLine("exec a"), { words: ["a"], redirections: [] });
  assert.ok("problem" in parseShellLine("a 'b"));
  assert.ok("problem" in parseShellLine("a $(b"));
  assert.ok("problem" in parseShellLine("a >>"));
});
