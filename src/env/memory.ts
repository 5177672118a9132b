// What was derived from objects that never change, such as a status, a pod of the local copy or a snapshot: each is looked
// at once, however often it is asked for. Its owner passes it to whoever derives something, and it never changes an answer.
// What was derived goes with its object.

/** A database has a few connection strings in its life, and a few versions. */
const textsMaximum = 100;

export class Memory {
  readonly #known = new Map<unknown, WeakMap<object, { readonly value: unknown }>>();
  readonly #texts = new Map<unknown, Map<string, { readonly value: unknown }>>();

  /**
   * `derive(key)`, made when it is first asked for. `derive` is a function that has a place of its own in a module; it gets
   * this memory too, for what it derives of the parts of its key.
   */
  once<K extends object, V>(derive: (key: K, memory: this) => V, key: K): V {
    let known = this.#known.get(derive);
    if (known === undefined) this.#known.set(derive, (known = new WeakMap()));
    const found = known.get(key);
    if (found !== undefined) return found.value as V;
    const value = derive(key, this);
    known.set(key, { value });
    return value;
  }

  /** The same for a text that is one of a few. When they turn out to be many, all are forgotten. */
  onceOfText<V>(derive: (text: string) => V, text: string): V {
    let known = this.#texts.get(derive);
    if (known === undefined) this.#texts.set(derive, (known = new Map()));
    const found = known.get(text);
    if (found !== undefined) return found.value as V;
    const value = derive(text);
    if (known.size >= textsMaximum) known.clear();
    known.set(text, { value });
    return value;
  }
}

export interface Remembering {
  readonly memory: Memory;
}
