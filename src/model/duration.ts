// Durations as people write them in a spec: a number and one unit. Rules: spec/backup.md [BK90].

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const durationPattern = "^[1-9][0-9]{0,8}[smhd]$";

/** The same, or 0 for none. */
export const quarantinePattern = "^(0|[1-9][0-9]{0,8}[smhd])$";

/** Undefined when the text is no duration. */
export function durationMs(text: string | undefined): number | undefined {
  const match = /^([1-9]\d{0,8})([smhd])$/.exec(text ?? "");
  if (match === null) return undefined;
  return Number(match[1]) * unitsMs[match[2] as keyof typeof unitsMs];
}
