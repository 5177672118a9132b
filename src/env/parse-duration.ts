// Durations as people write them on a command line, in the form of Go: 500ms, 15s, 1m30s. A plain number counts as seconds.

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Undefined when the text is no duration. */
export function parseDurationMs(value: string): number | undefined {
  const trimmed = value.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * 1000);
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(trimmed)) return undefined;
  let sumMs = 0;
  for (const [, number, , unit] of trimmed.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g)) {
    sumMs += Number(number) * (unitsMs[unit ?? ""] ?? 0);
  }
  return Math.round(sumMs);
}
