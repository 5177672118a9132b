// What a page of Markdown holds, as far as links go: its headings with the anchors that code hosts give them, and its links.
// Needs no package, so that `npm test` can check links on a bare machine. Rules: spec/manual.md [MAN3].

export interface Link {
  readonly line: number;
  /** As it is written, with its anchor. */
  readonly target: string;
}

/** Lines of a page outside of code blocks and comments, with their numbers. */
export function proseOf(markdown: string): readonly { line: number; text: string }[] {
  const lines: { line: number; text: string }[] = [];
  let fence: string | undefined;
  for (const [index, text] of withoutComments(markdown).split("\n").entries()) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(text)?.[1];
    if (fence === undefined && mark !== undefined) fence = mark;
    else if (fence === undefined) lines.push({ line: index + 1, text });
    else if (mark?.startsWith(fence) === true) fence = undefined;
  }
  return lines;
}

/** Numbers of lines stay as they are. */
export function withoutComments(markdown: string): string {
  return markdown.replaceAll(/<!--[^]*?-->/g, (comment) => comment.replaceAll(/[^\n]/g, ""));
}

export function linksOf(markdown: string): readonly Link[] {
  return proseOf(markdown).flatMap(({ line, text }) =>
    [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => ({
      line,
      target: match[1] ?? "",
    })),
  );
}

/** Code in a sentence may look like a link. A link whose text is code stays one. */
function withoutCode(text: string): string {
  return text.replaceAll(/`[^`]*`/g, "code");
}

/** The anchors of a page, as code hosts make them: a second heading of the same words gets `-1`. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const next = anchors();
  const found = new Set<string>();
  for (const { text } of proseOf(markdown)) {
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(text)?.[1];
    if (heading !== undefined) found.add(next(plainText(heading)));
  }
  return found;
}

/** Gives each heading of one page its anchor. */
export function anchors(): (heading: string) => string {
  const counts = new Map<string, number>();
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-");
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
}

/** Of a heading or a sentence: without the marks of code, links and emphasis. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "")
    .replaceAll(/\*+/g, "");
}
