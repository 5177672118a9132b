// As much of a shell as the containers need: words, quotes, command substitution as text, and
// output redirections.

export interface ShellLine {
  readonly words: readonly string[];
  /** Files that the line appends its output to. */
  readonly redirections: readonly string[];
}

export function parseShellLine(line: string): ShellLine | { problem: string } {
  const tokens = tokenize(line);
  if (tokens === undefined) return { problem: "unterminated quoted string" };
  const words: string[] = [];
  const redirections: string[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index] ?? "";
    if (/^\d*>&\d+$/.test(token)) continue;
    if (/^\d*>{1,2}$/.test(token)) {
      index += 1;
      const target = tokens[index];
      if (target === undefined) return { problem: "syntax error: file name missing" };
      redirections.push(target);
    } else if (token === "exec" && words.length === 0) {
      continue;
    } else {
      words.push(token);
    }
  }
  return { words, redirections };
}

/** Undefined when a quote or a command substitution is not closed. */
function tokenize(line: string): string[] | undefined {
  const tokens: string[] = [];
  let current: string | undefined;
  let index = 0;
  while (index < line.length) {
    const character = line[index] ?? "";
    if (/\s/.test(character)) {
      if (current !== undefined) tokens.push(current);
      current = undefined;
      index += 1;
      continue;
    }
    const end = closingIndex(line, index);
    if (end === undefined) return undefined;
    const piece = line.slice(index, end);
    current =
      (current ?? "") + (character === "'" || character === '"' ? piece.slice(1, -1) : piece);
    index = end;
  }
  if (current !== undefined) tokens.push(current);
  return tokens;
}

/** Where the character, quoted text or $(…) that begins at `start` ends. */
function closingIndex(line: string, start: number): number | undefined {
  const character = line[start];
  if (character === "'" || character === '"') {
    const end = line.indexOf(character, start + 1);
    return end < 0 ? undefined : end + 1;
  }
  if (!line.startsWith("$(", start)) return start + 1;
  let depth = 0;
  for (let index = start + 1; index < line.length; index += 1) {
    if (line[index] === "(") depth += 1;
    if (line[index] === ")") depth -= 1;
    if (depth === 0) return index + 1;
  }
  return undefined;
}
