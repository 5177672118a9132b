// Figures as a person reads them: three digits at most, and a unit. Rules: spec/plugin.md [VW1].
import { byteText, digits, scaledText } from "../../model/byte-text.ts";

/** What stands where nothing is known: a figure that is absent is not zero. */
export const unknownText = "-";

const countUnits = ["", "k", "M", "G", "T", "P"] as const;

/** "0 B", "1.2 kB", "345 MB": powers of ten, as FoundationDB's own tools count. */
export function bytesText(bytes: number | undefined): string {
  return isKnown(bytes) ? byteText(bytes) : unknownText;
}

/** "7", "1.2k", "3.4M". */
export function countText(count: number | undefined): string {
  return isKnown(count) ? scaledText(count, countUnits, "") : unknownText;
}

/** "1.2k/s". */
export function rateText(perSecond: number | undefined): string {
  return isKnown(perSecond) ? `${countText(perSecond)}/s` : unknownText;
}

/** Of a share between 0 and 1: "0%", "7%", "100%". */
export function percentText(share: number | undefined): string {
  return isKnown(share) ? `${Math.round(Math.max(0, share) * 100)}%` : unknownText;
}

/** Seconds with the precision that matters: "0.4 ms", "35 ms", "5.3 s", "12 min", "3.1 h". */
export function secondsText(seconds: number | undefined): string {
  if (!isKnown(seconds) || seconds < 0) return unknownText;
  if (seconds === 0) return "0 s";
  if (seconds < 0.9995) return `${digits(seconds * 1_000)} ms`;
  if (seconds < 120) return `${digits(seconds)} s`;
  if (seconds < 7_200) return `${digits(seconds / 60)} min`;
  return `${digits(seconds / 3_600)} h`;
}

/** "0.05", "1.2", "14": processor cores. */
export function coresText(cores: number | undefined): string {
  if (!isKnown(cores)) return unknownText;
  return cores < 9.995 ? Math.max(0, cores).toFixed(2) : digits(cores);
}

function isKnown(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
}
