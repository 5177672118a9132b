// Links of the documentation lead somewhere, anchors included, and so do pages that messages name. Rules: spec/manual.md [MAN3].
import { strict as assert } from "node:assert";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { brokenLinks } from "../../tools/manual/links.ts";
import { anchorsOf, linksOf } from "../../tools/manual/markdown.ts";

const root = join(import.meta.dirname, "..", "..");

test("[MAN3] anchors are those of code hosts", () => {
  const page = [
    "# `kubectl fdb`: what it *does*",
    "## One, two & three",
    "## Once",
    "## Once",
    "```",
    "# no heading",
    "```",
    "## Über_maß [link](x.md)",
    "<!-- ## none -->",
  ].join("\n");
  assert.deepEqual(
    [...anchorsOf(page)],
    ["kubectl-fdb-what-it-does", "one-two--three", "once", "once-1", "über_maß-link"],
  );
});

test("[MAN3] links are read from sentences and tables, not from code", () => {
  const page = ["[a](b.md#c) `[no](x.md)`", "```", "[no](y.md)", "```", "| ![p](q.svg) |"].join(
    "\n",
  );
  assert.deepEqual(linksOf(page), [
    { line: 1, target: "b.md#c" },
    { line: 5, target: "q.svg" },
  ]);
});

test("[MAN3] links without a page, a heading or a picture are named with their place", () => {
  const folder = mkdtempSync(join(tmpdir(), "fdb-operator-links-"));
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "picture.svg"), "");
  const page = [
    "# Title",
    "[good](#title) [good](../docs/page.md#title) ![good](../picture.svg) [good](https://example.org)",
    "[bad](#none) [bad](none.md) ![bad](none.png)",
    "[bad](../picture.svg#part) [bad](../../out.md)",
  ].join("\n");
  writeFileSync(join(folder, "docs/page.md"), page);
  const found = brokenLinks(folder, ["docs/page.md"]);
  rmSync(folder, { recursive: true });
  assert.deepEqual(found, [
    "docs/page.md:3: #none is no heading there",
    "docs/page.md:3: none.md does not exist",
    "docs/page.md:3: none.png does not exist",
    "docs/page.md:4: ../picture.svg#part has an anchor, and is not a page",
    "docs/page.md:4: ../../out.md leads out of the project",
  ]);
});

test("[MAN3] pages of the manual that messages and comments of the sources name exist, with their headings", () => {
  const files = globSync("{src,deploy,examples}/**/*.{ts,yaml,tpl,txt}", { cwd: root });
  const named = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g)].map(
      ([target]) => ({ file, target }),
    ),
  );
  const dead = named.filter(({ target }) => {
    const [page = "", anchor] = target.split("#");
    if (!existsSync(join(root, page))) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(join(root, page), "utf8")).has(anchor);
  });
  assert.ok(named.length > 0);
  assert.deepEqual(dead, []);
});
