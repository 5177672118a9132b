// Resource quantities in their canonical text, as the API server returns them: "1024Mi" is "1Gi",
// "0.5" is "500m". Amounts are exact integers of nano-units.

const binarySuffixes = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const decimalExponents: Record<string, number> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const quantityForm = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?|[eE][+-]?\d+)$/;

export interface Quantity {
  nano: bigint;
  format: "binary" | "decimal" | "exponent";
}

export function parseQuantity(text: string): Quantity | undefined {
  const match = quantityForm.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match;
  if (whole === "" && fraction === "") return undefined;
  const digits = BigInt(whole + fraction);
  const signed = sign === "-" ? -digits : digits;
  const binaryPower = binarySuffixes.indexOf(suffix) + 1;
  if (binaryPower > 0) {
    const scaled = signed * 1024n ** BigInt(binaryPower) * 10n ** 9n;
    return { nano: divideAwayFromZero(scaled, 10n ** BigInt(fraction.length)), format: "binary" };
  }
  const isExponent = /^[eE][+-]?\d+$/.test(suffix);
  const exponent = isExponent ? Number(suffix.slice(1)) : (decimalExponents[suffix] ?? 0);
  const power = exponent + 9 - fraction.length;
  const nano =
    power >= 0 ? signed * 10n ** BigInt(power) : divideAwayFromZero(signed, 10n ** BigInt(-power));
  return { nano, format: isExponent ? "exponent" : "decimal" };
}

/** Digits below a nano-unit round up. */
function divideAwayFromZero(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (value % divisor === 0n) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

const canonicalCache = new Map<string, string>();
const canonicalCacheLimit = 10_000;

/** The canonical text, or undefined when it is no quantity. */
export function canonicalQuantity(text: string): string | undefined {
  const cached = canonicalCache.get(text);
  if (cached !== undefined) return cached;
  const quantity = parseQuantity(text);
  if (quantity === undefined) return undefined;
  const canonical = formatQuantity(quantity);
  if (canonicalCache.size < canonicalCacheLimit) canonicalCache.set(text, canonical);
  return canonical;
}

export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return "0";
  const unit = 10n ** 9n;
  const absolute = nano < 0n ? -nano : nano;
  const sign = nano < 0n ? "-" : "";
  if (format === "binary" && absolute >= 1024n * unit && absolute % unit === 0n) {
    let amount = absolute / unit;
    let power = 0;
    while (amount % 1024n === 0n && power < binarySuffixes.length) {
      amount /= 1024n;
      power += 1;
    }
    return `${sign}${amount}${power === 0 ? "" : binarySuffixes[power - 1]}`;
  }
  let amount = absolute;
  let exponent = -9;
  while (amount % 1000n === 0n && exponent < 18) {
    amount /= 1000n;
    exponent += 3;
  }
  if (format === "exponent") return `${sign}${amount}${exponent === 0 ? "" : `e${exponent}`}`;
  const suffix = Object.keys(decimalExponents).find((key) => decimalExponents[key] === exponent);
  return `${sign}${amount}${suffix ?? ""}`;
}

/** Compares two quantities; a text that is no quantity counts as zero. */
export function compareQuantities(left: string, right: string): number {
  const leftNano = parseQuantity(left)?.nano ?? 0n;
  const rightNano = parseQuantity(right)?.nano ?? 0n;
  return leftNano < rightNano ? -1 : leftNano > rightNano ? 1 : 0;
}
