// The commands that README.md and the manual tell people to type, read from their Markdown: lines of code blocks, and code in a
// sentence that begins with a program.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface DocumentedCommand {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** In a block of code, to be typed as it stands; else in a sentence, which may only name it. */
  readonly isInBlock: boolean;
}

const programs =
  "(?:npm|npx|node|git|kubectl|kubectl-fdb|helm|docker|promtool|fdb-operator|fdbcli|fdbbackup|fdbrestore|codesign)";
const commandStart = new RegExp(`^${programs} `);
const inSentence = new RegExp(`\`(${programs} [^\`]+)\``, "g");

export function documentedCommands(root: string): readonly DocumentedCommand[] {
  const files = ["README.md", ...globSync("docs/**/*.md", { cwd: root }).sort()];
  return files.flatMap((file) => commandsOf(file, readFileSync(join(root, file), "utf8")));
}

export function commandsOf(file: string, markdown: string): readonly DocumentedCommand[] {
  const found: DocumentedCommand[] = [];
  let language: string | undefined;
  const sentences: { line: number; text: string }[] = [];
  for (const [index, text] of markdown.split("\n").entries()) {
    const fence = /^\s*```(\w*)/.exec(text);
    const line = index + 1;
    if (fence !== null) {
      language = language === undefined ? (fence[1] ?? "") : undefined;
    } else if (language === undefined) {
      sentences.push({ line, text });
    } else {
      const command = commandIn(language, text);
      if (command !== undefined) found.push({ file, line, text: command, isInBlock: true });
    }
  }
  for (const { line, text } of joined(sentences)) {
    for (const match of text.matchAll(inSentence)) {
      const command = (match[1] ?? "").replaceAll(/\s+/g, " ");
      found.push({ file, line, text: command, isInBlock: false });
    }
  }
  return found;
}

/** A block of `sh` holds commands alone. Others may hold what a command prints: there a command begins with a program or `$`. */
function commandIn(language: string, text: string): string | undefined {
  const command = text
    .trim()
    .replace(/^\$ /, "")
    .replace(/(^|\s+)#\s.*$/, "");
  if (["sh", "bash"].includes(language)) return command === "" ? undefined : command;
  if (!["", "console"].includes(language)) return undefined;
  return commandStart.test(command) || text.trim().startsWith("$ ") ? command : undefined;
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
