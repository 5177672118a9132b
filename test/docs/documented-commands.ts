// The commands that README.md and the manual tell people to type, read from their Markdown: lines of code blocks, and code in a
// sentence that begins with a program.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface DocumentedCommand {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

const programs = "(?:npm|npx|kubectl|helm|docker|fdb-operator|node)";
const commandStart = new RegExp(`^${programs} `);
const inSentence = new RegExp(`\`(${programs} [^\`]+)\``, "g");

export function documentedCommands(root: string): readonly DocumentedCommand[] {
  const files = ["README.md", ...globSync("docs/*.md", { cwd: root }).sort()];
  return files.flatMap((file) => commandsOf(file, readFileSync(join(root, file), "utf8")));
}

export function commandsOf(file: string, markdown: string): readonly DocumentedCommand[] {
  const found: DocumentedCommand[] = [];
  let isCode = false;
  let isShell = false;
  const sentences: { line: number; text: string }[] = [];
  for (const [index, text] of markdown.split("\n").entries()) {
    const fence = /^\s*```(\w*)/.exec(text);
    const line = index + 1;
    if (fence !== null) {
      isCode = !isCode;
      isShell = isCode && ["", "sh", "bash", "console"].includes(fence[1] ?? "");
    } else if (!isCode) {
      sentences.push({ line, text });
    } else if (isShell) {
      const command = text.trim().replace(/\s+#\s.*$/, "");
      if (commandStart.test(command)) found.push({ file, line, text: command });
    }
  }
  for (const { line, text } of joined(sentences)) {
    for (const match of text.matchAll(inSentence)) {
      found.push({ file, line, text: (match[1] ?? "").replaceAll(/\s+/g, " ") });
    }
  }
  return found;
}

/** Code in a sentence may go on in the next line. */
function joined(
  lines: readonly { line: number; text: string }[],
): { line: number; text: string }[] {
  const paragraphs: { line: number; text: string }[] = [];
  let isOpen = false;
  for (const { line, text } of lines) {
    const last = paragraphs.at(-1);
    const isContinued = isOpen && last !== undefined && text.trim() !== "";
    if (isContinued) last.text += ` ${text.trim()}`;
    else paragraphs.push({ line, text });
    isOpen = ((paragraphs.at(-1)?.text.match(/`/g) ?? []).length & 1) === 1;
  }
  return paragraphs;
}
