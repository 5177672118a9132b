// What is not known is left out, so that JSON and views say nothing of it.

type Known<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the fields that are undefined. */
export function known<T extends object>(all: T): Known<T> {
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as Known<T>;
}
