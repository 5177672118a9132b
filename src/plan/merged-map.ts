// Two maps of labels or annotations in one; absent when both are empty.

export function mergedMap(
  base: Readonly<Record<string, string>> | undefined,
  over: Readonly<Record<string, string>> | undefined,
): Record<string, string> | undefined {
  const merged = { ...base, ...over };
  return Object.keys(merged).length === 0 ? undefined : merged;
}
