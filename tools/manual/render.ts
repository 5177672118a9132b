// One page of Markdown as HTML: headings with the anchors of code hosts, links that lead inside of the site, coloured code,
// tables that scroll by themselves, and rows of fields that can be linked to. Rules: spec/manual.md [MAN4], [MAN5].
import { escapeHtml } from "./html.ts";
import { isForeign, targetOf } from "./links.ts";
import { anchors, withoutComments } from "./markdown.ts";
import type { MarkdownIt, Packages, Token } from "./packages.ts";
import { relativeUrl, sitePath } from "./site-paths.ts";

export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly anchor: string;
}

/** What the search finds: a part of a page with its words. */
export interface Section {
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
  /** Files of the project that it links to or shows. */
  readonly targets: readonly string[];
}

export function markdownRenderer(packages: Packages): MarkdownIt {
  return packages.markdownIt({
    html: false,
    highlight: (code, language) =>
      ["", "sh", "console"].includes(language)
        ? withRemarks(code)
        : (packages.highlight(code, language) ?? ""),
  });
}

/** Commands stay as they are, but for the remarks behind them: what is a keyword of a shell is mostly an argument in a manual. */
function withRemarks(code: string): string {
  return escapeHtml(code).replaceAll(/(^|\s)(# .*)$/gm, '$1<span class="hljs-comment">$2</span>');
}

export function renderPage(markdownIt: MarkdownIt, file: string, markdown: string): RenderedPage {
  const tokens = markdownIt.parse(withoutComments(markdown), {});
  const headings = nameHeadings(tokens);
  nameRows(tokens);
  const targets = turnLinks(tokens, file);
  const html = markdownIt.renderer
    .render(tokens, markdownIt.options, {})
    .replaceAll(
      "<table>",
      '<div class="table" role="region" aria-label="Table" tabindex="0"><table>',
    )
    .replaceAll("</table>", "</table></div>")
    .replaceAll("<pre>", '<pre tabindex="0">');
  return {
    title: headings.find(({ level }) => level === 1)?.text ?? file,
    html,
    headings,
    sections: sectionsOf(tokens),
    targets,
  };
}

function nameHeadings(tokens: readonly Token[]): Heading[] {
  const next = anchors();
  return tokens.flatMap((token, index) => {
    if (token.type !== "heading_open") return [];
    const text = textOf(tokens[index + 1]);
    const anchor = next(text);
    token.attrSet("id", anchor);
    return [{ level: Number(token.tag.slice(1)), text, anchor }];
  });
}

/** A row that begins with the path of a field or with a flag can be linked to. */
function nameRows(tokens: readonly Token[]): void {
  const taken = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "tr_open" || tokens[index + 1]?.type !== "td_open") continue;
    const first = tokens[index + 2]?.children ?? [];
    const [code] = first;
    const name = first.length === 1 && code?.type === "code_inline" ? code.content : "";
    const anchor = /^(?:(?:spec|status)\.\S+|--[a-z-]+)/.exec(name)?.[0];
    if (anchor === undefined || taken.has(anchor)) continue;
    taken.add(anchor);
    token.attrSet("id", anchor);
  }
}

/** Pages and files of the project become pages of the site; a link to another host stays. */
function turnLinks(tokens: readonly Token[], file: string): string[] {
  const targets: string[] = [];
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    const attribute = token.type === "image" ? "src" : "href";
    if (token.type !== "link_open" && token.type !== "image") continue;
    const written = token.attrGet(attribute) ?? "";
    if (isForeign(written)) {
      token.attrSet("rel", "noreferrer");
      continue;
    }
    const [path = "", anchor] = decodeURI(written).split("#");
    const target = targetOf(file, path);
    targets.push(target);
    const url = path === "" ? "" : relativeUrl(sitePath(file), sitePath(target));
    token.attrSet(attribute, anchor === undefined ? url : `${url}#${anchor}`);
  }
  return targets;
}

/** By headings, and rows of fields each for itself. */
function sectionsOf(tokens: readonly Token[]): Section[] {
  const sections: { anchor: string; heading: string; words: string[] }[] = [];
  let row: { anchor: string; heading: string; words: string[] } | undefined;
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const heading = textOf(tokens[index + 1]);
      sections.push({ anchor: token.attrGet("id") ?? "", heading, words: [] });
    } else if (token.type === "tr_open" && token.attrGet("id") !== null) {
      const anchor = token.attrGet("id") ?? "";
      row = { anchor, heading: anchor, words: [] };
    } else if (token.type === "tr_close" && row !== undefined) {
      sections.splice(-1, 0, row);
      row = undefined;
    } else if (tokens[index - 1]?.type !== "heading_open") {
      const text = token.type === "inline" ? textOf(token) : token.content;
      if (text !== "") (row ?? sections.at(-1))?.words.push(text.replaceAll(/\s+/g, " ").trim());
    }
  }
  return sections.map(({ words, ...rest }) => ({ ...rest, text: words.join(" ") }));
}

function textOf(token: Token | undefined): string {
  return (token?.children ?? [])
    .map(({ type, content }) => (type === "softbreak" ? " " : content))
    .join("");
}
