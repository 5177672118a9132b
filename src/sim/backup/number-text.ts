// Numbers and JSON as the backup tools print them: six significant digits, and an exponent of two digits below 1e-4.

/** As C's %g prints a number. */
export function generalNumber(value: number): string {
  if (value === 0) return "0";
  const [digits = "", exponentText = "0"] = value.toExponential(5).split("e");
  const exponent = Number(exponentText);
  const trimmed = (text: string): string =>
    text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  if (exponent >= -4 && exponent < 6) return trimmed(value.toFixed(Math.max(0, 5 - exponent)));
  const power = String(Math.abs(exponent)).padStart(2, "0");
  return `${trimmed(digits)}e${exponent < 0 ? "-" : "+"}${power}`;
}

export type JsonValue =
  | string
  | number
  | boolean
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** One line without spaces; keys stay in their order and undefined ones are left out. */
export function jsonLine(value: JsonValue): string {
  if (typeof value === "number") {
    return Number.isInteger(value) ? String(value) : generalNumber(value);
  }
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((entry) => jsonLine(entry)).join(",")}]`;
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [`${JSON.stringify(key)}:${jsonLine(member)}`],
  );
  return `{${members.join(",")}}`;
}
