// Kubernetes quantities.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import * as fc from "fast-check";
import { canonicalQuantity, compareQuantities, parseQuantity } from "./quantity.ts";

const suffixes = ["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "E2", "e-4"];
const quantities = fc
  .tuple(
    fc.constantFrom("", "-", "+"),
    fc.integer({ min: 0, max: 99_999 }),
    fc.constantFrom("", ".5", ".25", ".125", ".001", ".000"),
    fc.constantFrom(...suffixes),
  )
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction}${suffix}`);

test("[M63] amounts are read exactly and rounded up to a nano unit", () => {
  const nanos = (text: string): bigint | undefined => {
    const quantity = parseQuantity(text);
    return quantity.ok ? quantity.value.nanos : undefined;
  };
  assert.equal(nanos("1.5Ki"), 1_536_000_000_000n);
  assert.equal(nanos("0.1n"), 1n);
  assert.equal(nanos("-2e3"), -2_000_000_000_000n);
  for (const text of ["", "Gi", "1.2.3", "1 Gi", "1K", "1e", "1e9999", "--1"]) {
    assert.equal(nanos(text), undefined, text);
  }
});

test("[M64] the canonical text is that of Go", () => {
  const texts: [string | number, string][] = [
    ["0.5", "500m"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["2048Mi", "2Gi"],
    ["1.5Gi", "1536Mi"],
    ["0.1Ki", "102400m"],
    ["1.1Gi", "1181116006400m"],
    ["1e3", "1e3"],
    ["1000e3", "1e6"],
    ["1000", "1k"],
    ["128G", "128G"],
    ["1024", "1024"],
    ["1Ki", "1Ki"],
    ["0.0", "0"],
    ["+2", "+2"],
    ["1.234", "1.234"],
    [2, "2"],
    [0.25, "250m"],
  ];
  assert.equal(canonicalQuantity("no quantity"), undefined);
  for (const [text, canonical] of texts)
    assert.equal(canonicalQuantity(text), canonical, String(text));
  fc.assert(
    fc.property(quantities, (text) => {
      const once = canonicalQuantity(text) ?? "";
      assert.equal(canonicalQuantity(once), once);
      assert.equal(compareQuantities(text, once), 0);
    }),
    { seed: 1, numRuns: 1000 },
  );
});

test("[M65] quantities compare by amount", () => {
  assert.equal(compareQuantities("1Gi", "1073741824"), 0);
  assert.equal(compareQuantities("1G", "1Gi"), -1);
  assert.equal(compareQuantities("0.2", "199m"), 1);
  assert.equal(compareQuantities("-1", 0), -1);
});
