// The site of the manual: paths, frame, and what is found wrong with a built one. Rules: spec/manual.md [MAN4]-[MAN8].
import { strict as assert } from "node:assert";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { siteFaults } from "../../tools/manual/check-site.ts";
import type { Topic } from "../../tools/manual/contents.ts";
import { pagesOf } from "../../tools/manual/contents.ts";
import { framed } from "../../tools/manual/layout.ts";
import { loadPackages } from "../../tools/manual/packages.ts";
import { markdownRenderer, renderPage } from "../../tools/manual/render.ts";
import { relativeUrl, sitePath } from "../../tools/manual/site-paths.ts";

const root = join(import.meta.dirname, "..", "..");

test("[MAN4] docs/ is the top of the site, and every link between its files is relative", () => {
  assert.deepEqual(
    ["docs/index.md", "docs/a.md", "docs/b/c.md", "SPEC.md", "examples/x.yaml", "docs/p.svg"].map(
      sitePath,
    ),
    [
      "index.html",
      "a.html",
      "b/c.html",
      "project/SPEC.html",
      "files/examples/x.yaml.html",
      "p.svg",
    ],
  );
  assert.equal(relativeUrl("b/c.html", "project/SPEC.html"), "../project/SPEC.html");
});

const child = { title: "Child", file: "docs/deep/child.md", about: "", children: [] };
const topics: readonly Topic[] = [
  {
    title: "One <two>",
    pages: [
      { title: "First", file: "docs/first.md", about: "", children: [] },
      { title: "Parent", file: "docs/parent.md", about: "", children: [child] },
    ],
  },
];
const frame = { name: "manual", version: "1.2.3", topics, pages: pagesOf(topics) };

test("[MAN6] a page has navigation, headings, neighbours and a place for the search", () => {
  const headings = [
    { level: 1, text: "Parent", anchor: "parent" },
    { level: 2, text: "A & b", anchor: "a--b" },
    { level: 3, text: "Deeper", anchor: "deeper" },
  ];
  const page = framed(frame, {
    file: "docs/parent.md",
    title: "Parent",
    html: "<h1>P</h1>",
    headings,
  });
  for (const part of [
    "<title>Parent - manual</title>",
    "<h2>One &lt;two&gt;</h2>",
    '<a href="parent.html" aria-current="page">Parent</a>',
    '<ul><li><a href="deep/child.html">Child</a></li></ul>',
    '<a href="#a--b">A &amp; b</a>',
    '<a class="prev" rel="prev" href="first.html">',
    '<a class="next" rel="next" href="deep/child.html">',
    '<input type="search"',
    '<main id="main">\n<h1>P</h1>',
  ]) {
    assert.ok(page.includes(part), part);
  }
});

test("[MAN6] pages below another are shown in the navigation while one of them is open", () => {
  const shown = (file: string): boolean =>
    framed(frame, { file, title: "", html: "", headings: [] }).includes(">Child</a></li></ul>");
  assert.deepEqual(["docs/first.md", "docs/parent.md", "docs/deep/child.md"].map(shown), [
    false,
    true,
    true,
  ]);
});

const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'">`;

test("[MAN8] a frame breaks no rule of its own policy", () => {
  const page = framed(frame, { file: "docs/index.md", title: "", html: "", headings: [] });
  const found = faultsOf({
    "index.html": page.replaceAll(/<a [^>]*>/g, ""),
    "assets/icon.svg": "",
    "assets/site.css": "",
    "assets/search.js": "",
  });
  assert.deepEqual(found, []);
});

test("[MAN7] [MAN8] whatever a browser would ask of another host, or refuse, is a fault", () => {
  const found = faultsOf({
    "good.html": `${policy}<a href="https://example.org">x</a><a href="deep/page.html#here">x</a><p id="own"><a href="#own">`,
    "deep/page.html": `${policy}<h2 id="here">x</h2><img src="../p.svg">`,
    "bad.html": `<link href="https://example.org/font.css"><img src="//example.org/p.png"><a href="/top.html">x</a>`,
    "worse.html": `${policy}<script>x()</script><p style="color: red" onclick="x()"><a href="none.html">x</a><a href="#none">x</a>`,
    "p.svg":
      '<svg xmlns="http://www.w3.org/2000/svg"><image href="https://example.org/i.png"/></svg>',
    "s.css": "a { background: url(https://example.org/b.png) }",
    "good.css": "a { background: url(b.png) } /* https://example.org */",
  });
  assert.deepEqual(found, [
    "bad.html: has no policy that refuses other hosts",
    "bad.html: asks another host: https://example.org/font.css",
    "bad.html: asks another host: //example.org/p.png",
    "bad.html: has a link that wants the site at the top of a server: /top.html",
    "p.svg: asks another host: https://example.org/i.png",
    "s.css: asks another host: https://example.org/b.png",
    'worse.html: holds style="color: red", which its policy refuses',
    'worse.html: holds onclick="x()", which its policy refuses',
    "worse.html: has a link that leads nowhere: none.html",
    "worse.html: has a link that leads nowhere: #none",
    "worse.html: holds a script or a style, which its policy refuses",
  ]);
});

const isInstalled = existsSync(join(root, "tools/manual/node_modules/.installed-lock"));
const skip = isInstalled
  ? false
  : "the packages of the site are not installed: run npm run docs once";

test(
  "[MAN4] [MAN5] a page becomes HTML with the anchors of code hosts, links of the site and nothing raw",
  { skip },
  () => {
    const markdownIt = markdownRenderer(loadPackages(() => {}));
    const page = [
      "<!-- a remark -->",
      "# Title",
      "See [x](other.md#part), [y](../examples/x.yaml) and <b>this</b>.",
      "## Same",
      "## Same",
      "| Field | Meaning |",
      "|---|---|",
      "| `spec.a` | words |",
      "```",
      "npm start   # a remark",
      "```",
    ].join("\n");
    const { title, html, headings, sections, targets } = renderPage(
      markdownIt,
      "docs/deep/page.md",
      page,
    );
    assert.equal(title, "Title");
    assert.deepEqual(
      headings.map(({ anchor }) => anchor),
      ["title", "same", "same-1"],
    );
    assert.deepEqual(targets, ["docs/deep/other.md", "docs/examples/x.yaml"]);
    for (const part of [
      '<a href="other.html#part">',
      '<a href="../files/docs/examples/x.yaml.html">',
      "&lt;b&gt;this",
      '<tr id="spec.a">',
      'npm start   <span class="hljs-comment"># a remark</span>',
    ]) {
      assert.ok(html.includes(part), `${part} in ${html}`);
    }
    assert.ok(!html.includes("a remark -->"));
    assert.deepEqual(
      sections.map(({ anchor, text }) => `${anchor}: ${text}`),
      [
        "title: See x, y and <b>this</b>.",
        "same: ",
        "spec.a: spec.a words",
        "same-1: Field Meaning npm start # a remark",
      ],
    );
  },
);

function faultsOf(files: Readonly<Record<string, string>>): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "fdb-operator-site-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const found = siteFaults(folder);
  rmSync(folder, { recursive: true });
  return found;
}
