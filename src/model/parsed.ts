// The outcome of reading text that a person or another program wrote: a value, or a sentence that says
// what is wrong with it. A bad text is a state of the world, so no reader of the model throws.

export type Parsed<T> = { ok: true; value: T } | { ok: false; error: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function unparsed<T>(error: string): Parsed<T> {
  return { ok: false, error };
}
