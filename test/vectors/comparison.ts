// How results are compared with the ones in a file of vectors, and how a difference is shown in one line.

export interface Outcome {
  /** Section, case and compared item. */
  name: string;
  /** What differs; unset when nothing does. */
  difference?: string;
}

export function compare(name: string, expected: unknown, actual: unknown): Outcome {
  const difference = firstDifference("", expected, actual);
  return difference === undefined ? { name } : { name, difference };
}

/** The first place at which two values differ, objects without regard to the order of their keys. */
function firstDifference(path: string, expected: unknown, actual: unknown): string | undefined {
  if (Object.is(expected, actual)) return undefined;
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])].toSorted();
    for (const key of keys) {
      const found = firstDifference(`${path}/${key}`, expected[key], actual[key]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const place = path === "" ? "" : `at ${path}: `;
  if (typeof expected === "string" && typeof actual === "string") {
    return place + textDifference(expected, actual);
  }
  return `${place}expected ${shown(expected)}, got ${shown(actual)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

/** Long texts are shown from shortly before the place where they part. */
function textDifference(expected: string, actual: string): string {
  let start = 0;
  while (start < expected.length && expected[start] === actual[start]) start++;
  if (expected.length + actual.length < 160)
    return `expected ${shown(expected)}, got ${shown(actual)}`;
  const from = Math.max(0, start - 40);
  const part = (text: string): string => JSON.stringify(text.slice(from, start + 60));
  return `from character ${start}: expected …${part(expected)}…, got …${part(actual)}…`;
}
