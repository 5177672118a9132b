// The order of the manual: every page is listed, and README.md agrees. Rules: spec/manual.md [MAN1], [MAN2].
import { strict as assert } from "node:assert";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { contentsFile, contentsOf, pagesOf, readContents } from "../../tools/manual/contents.ts";
import { withTable } from "../../tools/manual/readme-table.ts";

const root = join(import.meta.dirname, "..", "..");

test("[MAN1] topics, pages and pages below them are read in their order", () => {
  const index = [
    "# Title",
    "Text with a [link](elsewhere.md).",
    "## One",
    "- [First](first.md): what it is: `a`",
    "  - [Below](deep/below.md)",
    "## Two",
    "- [Other](../OTHER.md): more",
  ].join("\n");
  const [below] = [{ title: "Below", file: "docs/deep/below.md", about: "", children: [] }];
  const other = { title: "Other", file: "OTHER.md", about: "more", children: [] };
  const first = { title: "First", file: "docs/first.md", about: "what it is: `a`" };
  assert.deepEqual(contentsOf(index), [
    { title: "One", pages: [{ ...first, children: [below] }] },
    { title: "Two", pages: [other] },
  ]);
});

test("[MAN1] a page before any topic, and one below none, are refused", () => {
  assert.throws(() => contentsOf("- [First](first.md)"), /"First" stands before any topic/);
  assert.throws(() => contentsOf("## One\n  - [First](first.md)"), /"First" has no parent/);
});

test("[MAN1] every page of docs/ is listed once, and nothing else of docs/", () => {
  const listed = pagesOf(readContents(root)).map(({ file }) => file);
  const pages = globSync("docs/**/*.md", { cwd: root }).map((file) => file.replaceAll("\\", "/"));
  assert.deepEqual(
    listed.filter((file) => file.startsWith("docs/")).toSorted(),
    pages.filter((file) => file !== contentsFile).toSorted(),
  );
});

test("[MAN1] every page that is listed says what it is about", () => {
  const silent = readContents(root)
    .flatMap(({ pages }) => pages)
    .filter(({ about }) => about === "");
  assert.deepEqual(silent, []);
});

test("[MAN2] the table of README.md is that of docs/index.md", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  assert.equal(readme, withTable(readme, readContents(root)), "run npm run generate");
});

test("[MAN2] a README without a place for the table is refused", () => {
  assert.throws(() => withTable("# Title", []), /README\.md lacks the lines/);
});
