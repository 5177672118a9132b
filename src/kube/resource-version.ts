// Order of resourceVersions. Kubernetes hands out decimal numbers that may exceed what a double holds, so
// they are compared as text: the longer is the greater, equal lengths compare by digits.

/** Negative when `left` is older, 0 when equal, positive when it is newer. An absent version is the oldest. */
export function compareResourceVersions(
  left: string | undefined,
  right: string | undefined,
): number {
  const [a, b] = [left ?? "", right ?? ""];
  if (a === b) return 0;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

export function isNewerResourceVersion(
  candidate: string | undefined,
  known: string | undefined,
): boolean {
  return compareResourceVersions(candidate, known) > 0;
}
