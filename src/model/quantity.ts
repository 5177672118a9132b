// Kubernetes quantities ("500m", "8Gi", "1e3"): reading, comparing, and the canonical text in which the API server and
// Go programs write them. Amounts are whole numbers of nano units, so nothing is lost to floating point.
// Carries the rules M63 to M65 of spec/model.md.
import { parsed, unparsed } from "./parsed.ts";
import type { Parsed } from "./parsed.ts";

export interface Quantity {
  nanos: bigint;
  /** How the quantity was written, which decides how it is written again. */
  form: "decimal" | "binary" | "exponent";
  /** The text itself, where Go takes it for canonical without looking closely (for example "+1" or "1.234"). */
  kept?: string;
}

const nano = 1_000_000_000n;
const decimalSuffixes: readonly string[] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const binarySuffixes: readonly string[] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** Binary amounts beyond a signed 64-bit integer are cut down to it. */
const largestBinary = (2n ** 63n - 1n) * nano;

export function parseQuantity(text: string): Parsed<Quantity> {
  const trimmed = text.trim();
  const match = /^([+-]?)(\d+\.?\d*|\.\d+)([eE][+-]?\d+|[A-Za-z]*)$/.exec(trimmed);
  const [, sign = "", digits = "", suffix = ""] = match ?? [];
  const scale = match ? scaleOf(suffix) : undefined;
  if (!scale) return unparsed(`"${text}" is not a quantity such as "500m", "8Gi" or "1e3"`);

  const [whole = "", fraction = ""] = digits.split(".");
  const numerator =
    BigInt(whole + fraction || "0") * 10n ** positive(scale.exponent) * scale.binary;
  const denominator = 10n ** BigInt(fraction.length) * 10n ** positive(-scale.exponent);
  // Whoever asks for a part of a nano unit gets a whole one, and never nothing.
  const rounded = (numerator * nano + denominator - 1n) / denominator;
  const isBinary = scale.form === "binary";
  const magnitude = isBinary && rounded > largestBinary ? largestBinary : rounded;
  const nanos = sign === "-" ? -magnitude : magnitude;
  const form = isBinary && magnitude < nano ? "decimal" : scale.form;
  const isKept = isBinary
    ? isKeptBinary(whole, fraction, scale)
    : isKeptDecimal(whole, fraction, scale.exponent);
  return parsed(isKept ? { nanos, form, kept: trimmed } : { nanos, form });
}

function positive(exponent: number): bigint {
  return BigInt(Math.max(0, exponent));
}

function isKeptDecimal(whole: string, fraction: string, exponent: number): boolean {
  const significant = whole.replace(/^0+/, "") || "0";
  const digits = significant + fraction;
  const power = exponent - fraction.length;
  return (
    digits.length <= 18 &&
    power >= -9 &&
    power % 3 === 0 &&
    !digits.endsWith("000") &&
    !digits.startsWith("0")
  );
}

function isKeptBinary(whole: string, fraction: string, scale: Scale): boolean {
  const significant = whole.replace(/^0+/, "") || "0";
  const bits = scale.binary.toString(2).length - 1;
  const room = 15 - significant.length - Math.trunc((bits * 3) / 10) - 1;
  return fraction === "" && room >= 0 && BigInt(significant) % 8n !== 0n;
}

interface Scale {
  /** A power of ten and a power of 1024, of which one is neutral. */
  exponent: number;
  binary: bigint;
  form: Quantity["form"];
}

function scaleOf(suffix: string): Scale | undefined {
  if (/^[eE][+-]?\d+$/.test(suffix)) {
    const exponent = Number(suffix.slice(1));
    // No resource has such an amount, and its digits would fill the memory.
    if (Math.abs(exponent) > 1000) return undefined;
    return { exponent, binary: 1n, form: "exponent" };
  }
  const power = binarySuffixes.indexOf(suffix) + 1;
  if (power > 0) return { exponent: 0, binary: 1024n ** BigInt(power), form: "binary" };
  const decimal = decimalSuffixes.indexOf(suffix);
  return decimal < 0 ? undefined : { exponent: (decimal - 3) * 3, binary: 1n, form: "decimal" };
}

export function formatQuantity(quantity: Quantity): string {
  const { nanos } = quantity;
  if (quantity.kept !== undefined) return quantity.kept;
  if (nanos === 0n) return "0";
  const sign = nanos < 0n ? "-" : "";
  const magnitude = nanos < 0n ? -nanos : nanos;
  const isWhole = magnitude % nano === 0n;
  if (quantity.form === "binary" && isWhole && magnitude >= 1024n * nano) {
    return sign + formatBinary(magnitude / nano);
  }
  return sign + formatDecimal(magnitude, quantity.form === "exponent");
}

function formatBinary(amount: bigint): string {
  let [rest, power] = [amount, 0];
  while (rest % 1024n === 0n && power < binarySuffixes.length) {
    rest /= 1024n;
    power++;
  }
  return `${rest}${power === 0 ? "" : binarySuffixes[power - 1]}`;
}

function formatDecimal(nanos: bigint, isExponent: boolean): string {
  let [rest, power] = [nanos, 0];
  const largestPower = isExponent ? Infinity : decimalSuffixes.length - 1;
  while (rest % 1000n === 0n && power < largestPower) {
    rest /= 1000n;
    power++;
  }
  if (!isExponent) return `${rest}${decimalSuffixes[power]}`;
  const exponent = (power - 3) * 3;
  return exponent === 0 ? `${rest}` : `${rest}e${exponent}`;
}

/** What most people write: too few digits for a larger unit, so it stays as it is. Every pod has some. */
const plain = /^[1-9]\d{0,2}([numkMGT]|[KMGT]i)?$/;

/** The text as the API server would give it back; undefined when it is no quantity. */
export function canonicalQuantity(given: string | number): string | undefined {
  const text = String(given);
  if (plain.test(text)) return text;
  const quantity = parseQuantity(text);
  return quantity.ok ? formatQuantity(quantity.value) : undefined;
}

/** Negative when `a` is less than `b`; a text that is no quantity counts as zero. */
export function compareQuantities(a: string | number, b: string | number): number {
  const difference = nanosOf(a) - nanosOf(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** A text that is no quantity counts as zero. */
export function nanosOf(text: string | number): bigint {
  const quantity = parseQuantity(String(text));
  return quantity.ok ? quantity.value.nanos : 0n;
}
