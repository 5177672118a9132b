// Figures with units, at the borders between them.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { bytesText, coresText, countText, percentText, rateText, secondsText } from "./units.ts";

const table: readonly [(value: number | undefined) => string, number | undefined, string][] = [
  [bytesText, undefined, "-"],
  [bytesText, Number.NaN, "-"],
  [bytesText, 0, "0 B"],
  [bytesText, 999, "999 B"],
  [bytesText, 999.6, "1 kB"],
  [bytesText, 1_234, "1.2 kB"],
  [bytesText, 99_949, "100 kB"],
  [bytesText, 999_500, "1 MB"],
  [bytesText, 97_793_294_336, "98 GB"],
  [bytesText, 2e18, "2000 PB"],
  [bytesText, -21_433, "-21 kB"],
  [countText, 7, "7"],
  [countText, 12_345, "12k"],
  [rateText, 1_180.4, "1.2k/s"],
  [rateText, undefined, "-"],
  [percentText, 0.0128, "1%"],
  [percentText, 1.004, "100%"],
  [percentText, -1, "0%"],
  [secondsText, -1, "-"],
  [secondsText, 0, "0 s"],
  [secondsText, 0.000291, "0.3 ms"],
  [secondsText, 0.9996, "1 s"],
  [secondsText, 5.4218, "5.4 s"],
  [secondsText, 119.6, "120 s"],
  [secondsText, 600, "10 min"],
  [secondsText, 86_400, "24 h"],
  [coresText, 0.002, "0.00"],
  [coresText, 3.456, "3.46"],
  [coresText, 31.7, "32"],
];

test("[VW1] figures have a unit and three digits, and what is not known is no zero", () => {
  for (const [text, value, shown] of table) assert.equal(text(value), shown, String(value));
});
