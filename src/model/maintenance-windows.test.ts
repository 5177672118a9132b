// Windows over days on which clocks are put forward and back.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { parseCron } from "./cron.ts";
import { doMeet, nextOpening, openUntil } from "./maintenance-windows.ts";
import type { MaintenanceWindow } from "./maintenance-windows.ts";

function windowOf(line: string, hours: number, timeZone = "Europe/Berlin"): MaintenanceWindow {
  const cron = parseCron(line);
  assert.ok(cron.ok);
  return { cron: cron.value, timeZone, durationMs: hours * 3_600_000 };
}

const at = (text: string): number => Date.parse(text);
const text = (atMs: number | undefined): string | undefined =>
  atMs === undefined ? undefined : new Date(atMs).toISOString().slice(0, 16);

const night = windowOf("0 2 * * *", 2);

const cases: readonly [string, readonly MaintenanceWindow[], string, string | undefined][] = [
  ["before it", [night], "2026-01-10T00:59:59Z", undefined],
  ["at its first moment", [night], "2026-01-10T01:00:00Z", "2026-01-10T03:00"],
  ["in it", [night], "2026-01-10T02:59:59Z", "2026-01-10T03:00"],
  ["at its end", [night], "2026-01-10T03:00:00Z", undefined],
  ["in summer", [night], "2026-07-10T00:30:00Z", "2026-07-10T02:00"],
  // 02:00 does not exist on this day: it opens when it would have been 02:00, and lasts as long as ever.
  ["clocks are put forward", [night], "2026-03-29T02:59:00Z", "2026-03-29T03:00"],
  ["clocks are put forward, after it", [night], "2026-03-29T03:00:00Z", undefined],
  // 02:00 comes twice on this day: it opens the first time, and two hours are two hours.
  ["clocks are put back", [night], "2026-10-25T01:59:00Z", "2026-10-25T02:00"],
  ["clocks are put back, the second two o'clock", [night], "2026-10-25T02:00:00Z", undefined],
  [
    "the longer of two",
    [night, windowOf("0 2 * * 6", 8)],
    "2026-01-10T02:00:00Z",
    "2026-01-10T09:00",
  ],
  [
    "over midnight",
    [windowOf("0 23 * * 5", 12, "UTC")],
    "2026-01-10T10:00:00Z",
    "2026-01-10T11:00",
  ],
];

for (const [name, windows, now, end] of cases) {
  test(`[WIN1] [WIN2] open: ${name}`, () => {
    assert.equal(text(openUntil(windows, at(now))), end);
  });
}

test("[WIN2] the next opening is that of the first of all windows, in its zone", () => {
  const windows = [windowOf("0 4 * * *", 1, "UTC"), night];
  const next = nextOpening(windows, at("2026-01-10T00:00:00Z"));
  assert.deepEqual(next, { atMs: at("2026-01-10T01:00:00Z"), timeZone: "Europe/Berlin" });
  assert.equal(nextOpening(windows, at("2026-01-10T02:00:00Z"))?.timeZone, "UTC");
  assert.equal(nextOpening([windowOf("0 4 30 2 *", 1)], at("2026-01-10T00:00:00Z")), undefined);
});

test("[WIN2] a clock that is put back or forward changes only what it shows", () => {
  for (const now of ["2026-01-10T02:00:00Z", "2026-01-09T02:00:00Z", "2027-01-10T02:00:00Z"]) {
    assert.notEqual(openUntil([night], at(now)), undefined);
  }
});

const meetings: readonly [string, MaintenanceWindow, MaintenanceWindow, boolean][] = [
  ["the same", night, night, true],
  ["one after the other", night, windowOf("0 4 * * *", 2), false],
  ["the second begins in the first", night, windowOf("30 3 * * *", 2), true],
  ["the first begins in the second", windowOf("30 3 * * *", 2), night, true],
  ["at the same time, in two zones", night, windowOf("0 1 * * *", 2, "UTC"), true],
  ["Saturdays and Sundays", windowOf("0 2 * * 6", 2), windowOf("0 2 * * 0", 2), false],
  ["often, and once a month within", windowOf("0 * * * *", 0.5), windowOf("15 5 1 * *", 1), true],
  ["often, and monthly beside", windowOf("0 * * * *", 0.5), windowOf("35 5 1 * *", 0.2), false],
  ["once a year, and long until then", night, windowOf("0 2 1 6 *", 2), false],
  [
    "both very often, which nobody counts",
    windowOf("0 * * * *", 0.3),
    windowOf("30 * * * *", 0.3),
    true,
  ],
];

for (const [title, first, second, isMet] of meetings) {
  test(`[WIN25] windows that ${isMet ? "meet" : "never meet"}: ${title}`, () => {
    const nowMs = at("2026-01-10T12:00:00Z");
    assert.equal(doMeet([first], [second], nowMs), isMet);
    assert.equal(doMeet([second], [first], nowMs), isMet);
  });
}

test("[WIN25] a window that is open now meets one that opens before it closes, whoever asks", () => {
  const [monthly, mondays] = [windowOf("0 0 1 * *", 4, "UTC"), windowOf("0 2 * * 1", 1, "UTC")];
  // The first of June is a Monday, that of July is none.
  const nowMs = at("2026-06-01T00:30:00Z");
  assert.ok(doMeet([monthly], [mondays], nowMs));
  assert.ok(doMeet([mondays], [monthly], nowMs));
  const laterMs = at("2026-06-01T05:00:00Z");
  assert.ok(!doMeet([monthly], [mondays], laterMs));
  assert.ok(!doMeet([mondays], [monthly], laterMs));
});
