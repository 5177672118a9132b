// Times of Kubernetes are read quickly, and read as the machine reads them.
// Rules: spec/kube.md [KUBE95].
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatMicroTime, formatTime, parseTime } from "./time.ts";

function byMachine(text: string): number | undefined {
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
}

test("[KUBE95] every time is read as the machine reads it", () => {
  const texts = [
    ...["2026-11-16T10:17:01Z", "2026-02-28T23:59:59Z", "2024-02-29T00:00:00Z"],
    ...["2026-02-30T00:00:00Z", "2026-02-31T00:00:00Z", "2026-04-31T00:00:00Z"],
    ...["2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z"],
    ...["2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T25:00:00Z"],
    ...["2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "0001-01-01T00:00:00Z"],
    ...["0099-12-01T00:00:00Z", "9999-12-28T23:59:59Z", "2026-01-01 00:00:00Z"],
    ...["2026-01-01T00:00:00z", "2026-01-01T00:00:00+", "2026-1-01T00:00:000Z"],
    ...["2026-01-01T00:00:00.123456Z", "2026-01-01T02:00:00+02:00", "", "yesterday", "null"],
  ];
  for (const text of texts) assert.equal(parseTime(text), byMachine(text), text);
  assert.equal(parseTime(undefined), undefined);
  assert.equal(parseTime(null), undefined);
});

test("[KUBE95] what is written is read back", () => {
  const seconds = fc.integer({ min: -60_000_000_000, max: 250_000_000_000 });
  fc.assert(
    fc.property(seconds, (second) => {
      const atMs = second * 1000;
      assert.equal(parseTime(formatTime(atMs)), byMachine(formatTime(atMs)));
      assert.equal(parseTime(formatMicroTime(atMs)), byMachine(formatMicroTime(atMs)));
    }),
    { seed: 1 },
  );
});
