// Tests of the registry: each reason stands once, says everything, and has its paragraph in the manual.
import { strict as assert } from "node:assert";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { causesFirst } from "./rank.ts";
import { reasonOf, refusedReasons, waitReasons } from "./registry.ts";
import type { WaitReason } from "./registry.ts";

const manual = join(import.meta.dirname, "../../../docs");
const all = [...waitReasons, ...refusedReasons];

test("[P7] every reason stands in the file of one subject", () => {
  const files = globSync(join(import.meta.dirname, "*.ts"));
  const found = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^  ([A-Z]\w+): \{$/gm)].map((match) => match[1] ?? ""),
  );
  assert.deepEqual(found.toSorted(), all.toSorted());
});

test("[P7] every reason says what it means, in sentences, and names a page that exists", () => {
  for (const name of all) {
    const { meaning = "", remedy = "Nothing.", page } = reasonOf(name) ?? {};
    assert.match(meaning, /^\S.*[.)]$/, name);
    assert.match(remedy, /^[A-Z].*\.$/, name);
    if (page !== undefined) readFileSync(join(manual, `${page}.md`));
  }
});

test("[P7] every reason has a paragraph in docs/errors.md", () => {
  const text = readFileSync(join(manual, "errors.md"), "utf8");
  const missing = all.filter((reason) => !text.includes(`### ${reason}\n`));
  assert.deepEqual(missing, []);
});

test("[P7] what needs a look or a person is not answered with nothing", () => {
  const idle = all.filter((name) => {
    const { concern, remedy = "", usualMs } = reasonOf(name) ?? {};
    return concern !== "passing" && usualMs === undefined && remedy.startsWith("Nothing:");
  });
  assert.deepEqual(idle, []);
});

test("[E63] what passes by itself asks nobody to do something first", () => {
  const asking = all.filter((name) => {
    const { concern, remedy = "Nothing." } = reasonOf(name) ?? {};
    return concern === "passing" && !remedy.startsWith("Nothing");
  });
  assert.deepEqual(asking, []);
});

test("[E63] nor does a step for one of these reasons", () => {
  const plans = globSync(join(import.meta.dirname, "../**/*.ts"));
  const said = plans.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const waits = text.matchAll(/reason: "(\w+)",\n(?:(?!\}).*\n)*?\s+remedy:\s+["`](.*)/g);
    return [...waits].map(([, reason = "", remedy = ""]) => [reason, remedy] as const);
  });
  const passing = said.filter(([reason]) => reasonOf(reason)?.concern === "passing");
  assert.ok(passing.length > 10, `only ${passing.length} were found`);
  assert.deepEqual(
    passing.filter(([, remedy]) => !remedy.startsWith("Nothing")),
    [],
  );
});

test("[P7] only what ordinary work brings with it has a usual time, and only what deserves a look", () => {
  const odd = all.filter((name) => {
    const { concern, usualMs } = reasonOf(name) ?? {};
    return usualMs !== undefined && concern !== "look";
  });
  assert.deepEqual(odd, []);
});

test("[E47] causes are named before their consequences, and the rest keeps its order", () => {
  const reasons: WaitReason[] = [
    ...(["ExclusionPostponed", "CoordinatorsUnfit", "ProcessesMissing"] as const),
    ...(["PodUnschedulable", "NodeNotReady", "ActionFailed"] as const),
  ];
  const ordered = causesFirst(reasons.map((reason) => ({ reason }))).map(({ reason }) => reason);
  assert.deepEqual(ordered, [
    ...["ActionFailed", "NodeNotReady", "PodUnschedulable", "ProcessesMissing"],
    ...["ExclusionPostponed", "CoordinatorsUnfit"],
  ]);
});
