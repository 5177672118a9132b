// The frame of every page of the site: header with search, navigation by topics, headings of the page, the pages before and
// after. Plain strings; the looks are in assets/site.css. Rules: spec/manual.md [MAN4], [MAN6].
import type { ManualPage, Topic } from "./contents.ts";
import { escapeHtml } from "./html.ts";
import type { Heading } from "./render.ts";
import { relativeUrl, rootOf, sitePath } from "./site-paths.ts";

/** Everything comes from the site itself, and nothing is written into a page: no script, no style. */
export const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

export interface Frame {
  readonly name: string;
  readonly version: string;
  readonly topics: readonly Topic[];
  /** In the order of reading. */
  readonly pages: readonly ManualPage[];
}

export interface FramedPage {
  readonly file: string;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
}

export function framed(frame: Frame, page: FramedPage): string {
  const path = sitePath(page.file);
  const root = rootOf(path);
  const title = page.file === "docs/index.md" ? frame.name : `${page.title} - ${frame.name}`;
  const here = headingList(page.headings);
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${root}assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}assets/site.css">
<script src="${root}assets/search.js" defer></script>
</head>
<body id="top">
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="brand" href="${root}index.html">${escapeHtml(frame.name)}</a>
<span class="version">${escapeHtml(frame.version)}</span>
<div class="search" role="search" hidden>
<input type="search" aria-label="Search the manual" placeholder="Search (press /)" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list">
<div id="found" hidden></div>
</div>
<a class="menu" href="#contents">Contents</a>
</header>
<div class="columns">
<nav id="contents" aria-label="Contents">
<a class="close" href="#top">Close</a>
${navigation(frame, page.file)}
</nav>
<main id="main">
${page.html}
${neighbours(frame, page.file)}
</main>
${here === "" ? "" : `<aside aria-label="On this page">\n<h2>On this page</h2>\n${here}\n</aside>`}
</div>
</body>
</html>
`;
}

function navigation(frame: Frame, file: string): string {
  const from = sitePath(file);
  const link = (page: ManualPage): string => {
    const current = page.file === file ? ' aria-current="page"' : "";
    return `<a href="${relativeUrl(from, sitePath(page.file))}"${current}>${escapeHtml(page.title)}</a>`;
  };
  return frame.topics
    .map(({ title, pages }) => {
      const items = pages.map((page) => {
        const isOpen = [page, ...page.children].some((each) => each.file === file);
        const below = page.children.map((child) => `<li>${link(child)}</li>`).join("");
        return `<li>${link(page)}${isOpen && below !== "" ? `<ul>${below}</ul>` : ""}</li>`;
      });
      return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
    })
    .join("\n");
}

/** Second and third level; a page with one such heading needs no list. */
function headingList(headings: readonly Heading[]): string {
  const second = headings.filter(({ level }) => level === 2);
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return "";
  // A page with hundreds of headings, such as that of the reasons, still lists them all: it scrolls by itself.
  const items = shown.map(({ level, text, anchor }) => {
    const kind = level === 3 && second.length > 0 ? ' class="deeper"' : "";
    return `<li${kind}><a href="#${escapeHtml(anchor)}">${escapeHtml(text)}</a></li>`;
  });
  return `<ul>\n${items.join("\n")}\n</ul>`;
}

function neighbours(frame: Frame, file: string): string {
  const index = frame.pages.findIndex((page) => page.file === file);
  const link = (page: ManualPage | undefined, kind: string, word: string): string =>
    page === undefined
      ? ""
      : `<a class="${kind}" rel="${kind}" href="${relativeUrl(sitePath(file), sitePath(page.file))}"><span>${word}</span> ${escapeHtml(page.title)}</a>`;
  if (file === "docs/index.md") return links([link(frame.pages[0], "next", "Begin with")]);
  if (index === -1) return "";
  return links([
    link(frame.pages[index - 1], "prev", "Before"),
    link(frame.pages[index + 1], "next", "Next"),
  ]);
}

function links(items: readonly string[]): string {
  return `<nav class="neighbours" aria-label="Neighbouring pages">${items.join("")}</nav>`;
}
