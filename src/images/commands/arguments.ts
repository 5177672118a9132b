// The words of a small program: options of one letter or one word, and the rest. Rules: spec/streams.md [WS13].

export interface Arguments {
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
}

/** Letters may stand together; a letter in `withValue` takes the rest of its word, or the next word. */
export function readArguments(words: readonly string[], withValue = ""): Arguments {
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const rest: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "--") {
      for (const other of words.slice(index + 1)) rest.push(other);
      break;
    }
    const [, long, value] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (long !== undefined) {
      if (value === undefined) flags.add(long);
      else values.set(long, value);
      continue;
    }
    if (!/^-[A-Za-z0-9]/.test(word)) {
      rest.push(word);
      continue;
    }
    for (let at = 1; at < word.length; at += 1) {
      const letter = word[at] ?? "";
      if (!withValue.includes(letter)) {
        flags.add(letter);
        continue;
      }
      const own = word.slice(at + 1);
      if (own === "") index += 1;
      values.set(letter, own === "" ? (words[index] ?? "") : own);
      break;
    }
  }
  return { flags, values, rest };
}
