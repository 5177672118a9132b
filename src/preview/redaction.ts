// Placeholders for secrets: the same value has the same placeholder wherever it stands, another value another one. What is
// known to be secret in one place is replaced in free texts everywhere, unless it is also a name that has to stay.
// Nothing of a secret can be computed from its placeholder: they are numbered. Rules PIC10, PIC11, PIC13.
import { isPlaceholder, placeholderWord, replaceSecrets } from "./secret-patterns.ts";

/** Shorter values are replaced only in their own places: as part of other texts they mean nothing. */
const shortestKnown = 6;

export class Redaction {
  readonly #placeholders = new Map<string, string>();
  readonly #known = new Set<string>();
  readonly #forced = new Set<string>();
  #isCollecting = true;
  #next = 1;
  #searches: readonly Search[] = [];

  /** A value in a place that is secret, whatever it looks like. */
  secret(value: string): string {
    if (value === "" || isPlaceholder(value)) return this.#seen(value);
    if (this.#isCollecting) {
      this.#known.add(value);
      // A URL with a password: the password is a secret of its own.
      this.name(value);
    }
    return this.#placeholder(value);
  }

  /** The same, but an ordinary word is not looked for elsewhere. */
  unknown(value: string): string {
    if (value === "") return value;
    this.name(value);
    return this.#found(value);
  }

  /** A text that people or programs wrote: what looks like a secret or is known as one is replaced. */
  text(text: string): string {
    const replaced = replaceSecrets(this.#seen(text), (found) => this.#found(found));
    return this.#searches.reduce(replaceKnown, replaced);
  }

  /** The same in a name or an identifier, of which only the form is looked at. */
  name(text: string): string {
    return replaceSecrets(this.#seen(text), (found) => this.#found(found));
  }

  /** The values of flags of a command line are replaced whatever their length is. */
  commandLine(text: string): string {
    const whole = text.replaceAll(/(=)(\S+)/g, (all, equals: string, value: string) =>
      this.#forced.has(value) ? equals + this.#placeholder(value) : all,
    );
    return this.text(whole);
  }

  /** The value stands on the command line of a process, too. */
  force(value: string): void {
    if (!isPlaceholder(value)) this.#forced.add(value);
  }

  /**
   * Ends the collecting: from now on what is known is replaced in texts. `isPublic` says of a value that it has to stay
   * where it is part of other texts, since names are made of it.
   */
  settle(isPublic: (value: string) => boolean): void {
    this.#isCollecting = false;
    const values = new Map<string, string>();
    for (const value of this.#known) {
      if (value.length < shortestKnown || isPublic(value)) continue;
      const placeholder = this.#placeholder(value);
      for (const form of formsOf(value)) if (!values.has(form)) values.set(form, placeholder);
    }
    this.#searches = searchesFor(values);
  }

  /** How many different values were replaced. */
  get count(): number {
    return this.#placeholders.size;
  }

  /** Numbers are given when all are known that may not be given again. */
  #placeholder(value: string): string {
    if (this.#isCollecting) return `${placeholderWord}0`;
    const found = this.#placeholders.get(value);
    if (found !== undefined) return found;
    const placeholder = `${placeholderWord}${this.#next}`;
    this.#next += 1;
    this.#placeholders.set(value, placeholder);
    return placeholder;
  }

  /** Of what only its form gives away, ordinary words are not looked for elsewhere. */
  #found(value: string): string {
    if (isPlaceholder(value)) return value;
    const isOrdinary = value.length < 8 || /^[a-z]+$|^[A-Z][a-z]+$|^[\d.:]+$/.test(value);
    if (this.#isCollecting && !isOrdinary) this.#known.add(value);
    return this.#placeholder(value);
  }

  /** Placeholders of an earlier time keep their numbers to themselves. */
  #seen(text: string): string {
    if (!this.#isCollecting || !text.includes(placeholderWord)) return text;
    for (const [, number] of text.matchAll(/REDACTED(\d{1,9})/g)) {
      this.#next = Math.max(this.#next, Number(number) + 1);
    }
    return text;
  }
}

/** Values are looked for by their first letters, all of the same number: an expression of whole values could be too large. */
interface Search {
  readonly expression: RegExp;
  /** With the placeholder of each, the longest first. */
  readonly byHead: ReadonlyMap<string, readonly (readonly [string, string])[]>;
}

const headsAtOnce = 500;

function searchesFor(values: ReadonlyMap<string, string>): Search[] {
  const byHead = new Map<string, [string, string][]>();
  for (const entry of [...values].toSorted(([one], [other]) => other.length - one.length)) {
    const head = entry[0].slice(0, shortestKnown);
    const known = byHead.get(head);
    if (known === undefined) byHead.set(head, [entry]);
    else known.push(entry);
  }
  const heads = [...byHead.keys()];
  const searches: Search[] = [];
  for (let at = 0; at < heads.length; at += headsAtOnce) {
    const some = heads.slice(at, at + headsAtOnce);
    searches.push({ expression: new RegExp(some.map(escaped).join("|"), "g"), byHead });
  }
  return searches;
}

function replaceKnown(text: string, { expression, byHead }: Search): string {
  const parts: string[] = [];
  let from = 0;
  expression.lastIndex = 0;
  for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
    const { index } = match;
    const found = byHead.get(match[0])?.find(([value]) => text.startsWith(value, index));
    expression.lastIndex = index + (found?.[0].length ?? 1);
    if (found === undefined) continue;
    parts.push(text.slice(from, index), found[1]);
    from = expression.lastIndex;
  }
  return from === 0 ? text : parts.join("") + text.slice(from);
}

/** How a value may be written elsewhere: in JSON, in a URL, in base64, indented. */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const inUrl = encodeURIComponent(value.toWellFormed());
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    inUrl,
    inUrl.replaceAll(/[!'()*]/g, (letter) => `%${hex(letter)}`),
    bytes.toString("base64"),
    bytes.toString("base64url"),
    // A trailing line end is often part of what is encoded.
    Buffer.from(`${value}\n`).toString("base64"),
  ];
  return [...new Set(forms.filter((form) => form.length >= shortestKnown))];
}

function hex(letter: string): string {
  return letter.charCodeAt(0).toString(16).toUpperCase();
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
}
