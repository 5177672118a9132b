// Ranges of keys as a restore names them: text with `\xBB` for other bytes, prefixes that are taken away and put in front,
// and where in the destination all of it ends up. Carries the rules RS10 to RS13 of spec/restore.md.

/** Keys as text with one character for each byte, which sorts as the database does. */
export interface KeyRange {
  readonly begin: string;
  /** Not included. */
  readonly end: string;
}

export interface RangeSpec {
  readonly keyRanges?: readonly { readonly start: string; readonly end: string }[] | undefined;
  readonly addPrefix?: string | undefined;
  readonly removePrefix?: string | undefined;
}

/** Undefined when a backslash begins neither `\xBB` nor `\\`. */
export function unescapedKey(text: string): string | undefined {
  if (!/^(?:[^\\]|\\x[0-9a-fA-F]{2}|\\\\)*$/.test(text)) return undefined;
  return text.replaceAll(/\\x([0-9a-fA-F]{2})|\\\\/g, (_, digits: string | undefined) =>
    digits === undefined ? "\\" : String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

export function escapedKey(key: string): string {
  return key
    .replaceAll("\\", "\\\\")
    .replaceAll(
      /[^\x20-\x7e]/g,
      (letter) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}`,
    );
}

/** Short enough for a sentence. */
export function shownKey(key: string): string {
  const text = escapedKey(key.slice(0, 33));
  return key.length > 32 ? `${text.slice(0, 40)}…` : text;
}

export function shownRange({ begin, end }: KeyRange): string {
  return `'${shownKey(begin)}' to '${shownKey(end)}'`;
}

const userKeys: KeyRange = { begin: "", end: "\xff" };

/** What a backup of everything holds, as FoundationDB 7.3 has it: the keys of users, and four ranges of its own. */
const allKeys: readonly KeyRange[] = [
  userKeys,
  { begin: "\xff\x02/blobRange/", end: "\xff\x02/blobRange0" },
  { begin: "\xff/metacluster/clusterRegistration", end: "\xff/metacluster/clusterRegistration\0" },
  { begin: "\xff/tagQuota/", end: "\xff/tagQuota0" },
  { begin: "\xff/tenant/", end: "\xff/tenant0" },
];

/** Whether a restore may write there at all. */
export function isRestorableTo({ begin, end }: KeyRange): boolean {
  return allKeys.some((range) => range.begin <= begin && end <= range.end);
}

/** With a prefix in front of them the database's own keys would mean nothing: only those of users are restored. */
export function isOfUsersOnly({ keyRanges = [], addPrefix = "" }: RangeSpec): boolean {
  return keyRanges.length === 0 && addPrefix !== "";
}

/** The ranges of the spec, sorted. */
export function namedRanges({ keyRanges = [] }: RangeSpec): KeyRange[] {
  return keyRanges
    .map(({ start, end }) => ({ begin: unescapedKey(start) ?? "", end: unescapedKey(end) ?? "" }))
    .toSorted((left, right) => (left.begin < right.begin ? -1 : 1));
}

/** What is asked for, as it lies in the backup; sorted, and ranges that overlap are one. */
export function sourceRanges(spec: RangeSpec): KeyRange[] {
  const named = namedRanges(spec);
  if (named.length === 0) return isOfUsersOnly(spec) ? [userKeys] : [...allKeys];
  const joined: KeyRange[] = [];
  for (const range of named) {
    const last = joined.at(-1);
    if (last === undefined || range.begin >= last.end) joined.push(range);
    else if (range.end > last.end) joined.splice(-1, 1, { ...last, end: range.end });
  }
  return joined;
}

/** For the command line, which is split at blanks and semicolons. */
export function argumentOfRanges(ranges: readonly KeyRange[]): string {
  const text = (key: string): string =>
    key.replaceAll(
      /[^A-Za-z0-9/-]/g,
      (letter) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}`,
    );
  return ranges.map(({ begin, end }) => `${text(begin)} ${text(end)}`).join(";");
}

/** Where the restore writes. */
export function destinationRanges(spec: RangeSpec): KeyRange[] {
  const added = unescapedKey(spec.addPrefix ?? "") ?? "";
  const removed = unescapedKey(spec.removePrefix ?? "") ?? "";
  const moved = (key: string): string => added + key.slice(removed.length);
  return sourceRanges(spec).map(({ begin, end }) => ({ begin: moved(begin), end: moved(end) }));
}

/** The first two that have a key in common, of ranges sorted by their begin. */
export function overlapOf(ranges: readonly KeyRange[]): readonly [KeyRange, KeyRange] | undefined {
  for (const [index, range] of ranges.entries()) {
    const next = ranges[index + 1];
    if (next !== undefined && next.begin < range.end) return [range, next];
  }
  return undefined;
}
