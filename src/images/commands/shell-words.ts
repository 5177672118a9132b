// A line of a shell taken apart: words with their quotes and variables, operators between commands, redirections. Loops,
// functions and arithmetic are not part of it. Rules: spec/streams.md [WS12].

/** A piece of a word: text as it is, a variable, or the output of a command. */
export type WordPart =
  | { kind: "text"; text: string }
  | { kind: "variable"; name: string; isQuoted: boolean }
  | { kind: "output"; line: string; isQuoted: boolean };

export interface Redirection {
  /** 0 input, 1 output, 2 errors. */
  readonly descriptor: number;
  readonly operator: "<" | ">" | ">>" | ">&";
  readonly target: readonly WordPart[];
}

export interface SimpleCommand {
  readonly words: readonly (readonly WordPart[])[];
  readonly redirections: readonly Redirection[];
}

export interface Pipeline {
  /** What must hold of the pipeline before for this one to run. */
  readonly after: "always" | "success" | "failure";
  readonly commands: readonly SimpleCommand[];
}

type Token = { kind: "word"; parts: WordPart[] } | { kind: "operator"; text: string };

const operators = ["&&", "||", ">>", ">&", ";", "|", ">", "<", "\n"] as const;
const linksOf: Readonly<Record<string, Pipeline["after"]>> = {
  ...{ "&&": "success", "||": "failure", ";": "always", "\n": "always" },
};

export function parseScript(text: string): readonly Pipeline[] | { problem: string } {
  const tokens = tokenize(text);
  if (!Array.isArray(tokens)) return tokens;
  const pipelines: Pipeline[] = [];
  let after: Pipeline["after"] = "always";
  let commands: SimpleCommand[] = [];
  let words: (readonly WordPart[])[] = [];
  let redirections: Redirection[] = [];
  const endCommand = (): boolean => {
    if (words.length + redirections.length === 0) return false;
    commands.push({ words, redirections });
    words = [];
    redirections = [];
    return true;
  };
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index] as Token;
    if (token.kind === "word") {
      words.push(token.parts);
      continue;
    }
    const { text: operator } = token;
    const link = linksOf[operator];
    if (operator === "|") {
      if (!endCommand()) return unexpected(operator);
    } else if (link !== undefined) {
      const isEmpty = !endCommand() && commands.length === 0;
      if (isEmpty && link !== "always") return unexpected(operator);
      if (!isEmpty) pipelines.push({ after, commands });
      if (!isEmpty || link !== "always") after = link;
      commands = [];
    } else {
      const target = tokens[index + 1];
      if (target?.kind !== "word") return unexpected(target?.text ?? "newline");
      index += 1;
      const number = /^(\d?)(.*)$/.exec(operator);
      const kind = (number?.[2] ?? ">") as Redirection["operator"];
      const descriptor = number?.[1] === "" ? (kind === "<" ? 0 : 1) : Number(number?.[1]);
      redirections.push({ descriptor, operator: kind, target: target.parts });
    }
  }
  if (endCommand() || commands.length > 0) pipelines.push({ after, commands });
  return pipelines;
}

function unexpected(what: string): { problem: string } {
  return { problem: `syntax error near unexpected token \`${what === "\n" ? "newline" : what}'` };
}

function tokenize(text: string): Token[] | { problem: string } {
  const tokens: Token[] = [];
  let word: WordPart[] | undefined;
  let at = 0;
  const push = (part: WordPart): void => {
    word ??= [];
    const last = word.at(-1);
    if (part.kind === "text" && last?.kind === "text") last.text += part.text;
    else word.push(part);
  };
  const endWord = (): void => {
    if (word !== undefined) tokens.push({ kind: "word", parts: word });
    word = undefined;
  };
  while (at < text.length) {
    const rest = text.slice(at);
    const operator = /^\d?(?:>>|>&|>|<)/.exec(word === undefined ? rest : "")?.[0];
    const found = operator ?? operators.find((one) => rest.startsWith(one));
    if (found !== undefined) {
      endWord();
      tokens.push({ kind: "operator", text: found });
      at += found.length;
    } else if (/^\s/.test(rest)) {
      endWord();
      at += 1;
    } else if (rest.startsWith("#") && word === undefined) {
      at += rest.search(/\n|$/);
    } else {
      const piece = readPiece(rest, false);
      if ("problem" in piece) return piece;
      for (const part of piece.parts) push(part);
      at += piece.length;
    }
  }
  endWord();
  return tokens;
}

type Piece = { parts: WordPart[]; length: number } | { problem: string };

function readPiece(rest: string, isQuoted: boolean): Piece {
  const [first = ""] = rest;
  if (first === "'" && !isQuoted) {
    const end = rest.indexOf("'", 1);
    if (end < 0) return { problem: "unexpected EOF while looking for matching `''" };
    return { parts: [{ kind: "text", text: rest.slice(1, end) }], length: end + 1 };
  }
  if (first === '"' && !isQuoted) return readQuoted(rest);
  if (first === "\\") {
    const next = rest[1] ?? "";
    const isKept = isQuoted && !/["\\$`]/.test(next);
    return { parts: [{ kind: "text", text: isKept ? first + next : next }], length: 2 };
  }
  if (rest.startsWith("$(")) {
    const end = closing(rest);
    if (end === undefined) return { problem: "unexpected EOF while looking for matching `)'" };
    return { parts: [{ kind: "output", line: rest.slice(2, end), isQuoted }], length: end + 1 };
  }
  const variable = /^\$(?:\{(\w+|\?)\}|(\w+|\?))/.exec(rest);
  if (variable !== null) {
    const name = variable[1] ?? variable[2] ?? "";
    return { parts: [{ kind: "variable", name, isQuoted }], length: variable[0].length };
  }
  return { parts: [{ kind: "text", text: first }], length: 1 };
}

function readQuoted(rest: string): Piece {
  // An empty text makes a word, too.
  const parts: WordPart[] = [{ kind: "text", text: "" }];
  let at = 1;
  while (at < rest.length && rest[at] !== '"') {
    const piece = readPiece(rest.slice(at), true);
    if ("problem" in piece) return piece;
    for (const part of piece.parts) parts.push(part);
    at += piece.length;
  }
  if (at >= rest.length) return { problem: "unexpected EOF while looking for matching `\"'" };
  return { parts, length: at + 1 };
}

/** Where the $( that the text begins with ends. */
function closing(text: string): number | undefined {
  let depth = 0;
  for (let at = 1; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}
