// Finds members that a JSON text names twice in one object. JSON.parse keeps the last and says nothing, but
// the API server's field validation reports them. [KAS10]

/** Paths of duplicate members, in the order of the text; the text must be valid JSON. */
export function duplicateMembers(text: string): string[] {
  return new Scanner(text).scan();
}

class Scanner {
  readonly #text: string;
  readonly #found: string[] = [];
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): string[] {
    this.#value("");
    return [...new Set(this.#found)];
  }

  #value(path: string): void {
    this.#space();
    const character = this.#text[this.#position];
    if (character === "{") this.#object(path);
    else if (character === "[") this.#array(path);
    else if (character === '"') this.#string();
    else this.#scalar();
  }

  #object(path: string): void {
    const seen = new Set<string>();
    this.#position += 1;
    for (;;) {
      this.#space();
      if (this.#take("}")) return;
      const name = this.#string();
      const memberPath = path === "" ? name : `${path}.${name}`;
      if (seen.has(name)) this.#found.push(memberPath);
      seen.add(name);
      this.#space();
      this.#position += 1;
      this.#value(memberPath);
      this.#space();
      if (!this.#take(",")) {
        this.#take("}");
        return;
      }
    }
  }

  #array(path: string): void {
    this.#position += 1;
    for (let index = 0; ; index += 1) {
      this.#space();
      if (this.#take("]")) return;
      this.#value(`${path}[${index}]`);
      this.#space();
      if (!this.#take(",")) {
        this.#take("]");
        return;
      }
    }
  }

  #string(): string {
    const start = this.#position;
    this.#position += 1;
    while (this.#position < this.#text.length && this.#text[this.#position] !== '"') {
      this.#position += this.#text[this.#position] === "\\" ? 2 : 1;
    }
    this.#position += 1;
    return JSON.parse(this.#text.slice(start, this.#position)) as string;
  }

  #scalar(): void {
    while (
      this.#position < this.#text.length &&
      !/[\s,\]}]/.test(this.#text[this.#position] ?? "")
    ) {
      this.#position += 1;
    }
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#position] ?? "")) this.#position += 1;
  }

  #take(character: string): boolean {
    if (this.#text[this.#position] !== character) return false;
    this.#position += 1;
    return true;
  }
}
