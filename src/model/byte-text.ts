// Amounts of bytes as a person reads them: three digits at most, and a unit. Rules: spec/plugin.md [VW1].

const byteUnits = ["B", "kB", "MB", "GB", "TB", "PB"] as const;

/** "0 B", "1.2 kB", "345 MB": powers of ten, as FoundationDB's own tools count. */
export function byteText(bytes: number): string {
  return scaledText(bytes, byteUnits, " ");
}

export function scaledText(value: number, units: readonly string[], space: string): string {
  const sign = value < 0 ? "-" : "";
  let rest = Math.abs(value);
  let unit = 0;
  // What would be shown as 1000 belongs to the next unit.
  while (rest >= 999.5 && unit < units.length - 1) {
    rest /= 1_000;
    unit += 1;
  }
  const shown = unit === 0 ? String(Math.round(rest)) : digits(rest);
  return `${sign}${shown}${space}${units[unit] ?? ""}`;
}

export function digits(value: number): string {
  if (value < 9.95) return value.toFixed(1).replace(/\.0$/, "");
  return String(Math.round(value));
}
