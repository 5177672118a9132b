// When lines of cron fire. Proves the rules BK140 and BK141 of spec/backup.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { lastFire, nextFire, parseCron } from "./cron.ts";
import type { Cron } from "./cron.ts";
import { isTimeZone } from "../env/time-zone.ts";

function cronOf(line: string): Cron {
  const cron = parseCron(line);
  assert.ok(cron.ok, line);
  return cron.value;
}

/** The next instants after one, in the spelling of Kubernetes. */
function fires(line: string, zone: string, after: string, count = 3): string[] {
  const cron = cronOf(line);
  const found: string[] = [];
  let atMs: number | undefined = Date.parse(after);
  for (let index = 0; index < count && atMs !== undefined; index += 1) {
    atMs = nextFire(cron, zone, atMs);
    found.push(atMs === undefined ? "never" : new Date(atMs).toISOString().slice(0, 16));
  }
  return found;
}

const cases: [string, string, string, string[]][] = [
  ["0 3 * * *", "UTC", "2026-11-16T03:00:00Z", ["2026-11-17T03:00", "2026-11-18T03:00"]],
  ["0 3 * * *", "Europe/Berlin", "2026-11-16T02:00:00Z", ["2026-11-17T02:00", "2026-11-18T02:00"]],
  ["*/20 4-5 * * *", "UTC", "2026-11-16T04:30:00Z", ["2026-11-16T04:40", "2026-11-16T05:00"]],
  ["5/25 4 * * *", "UTC", "2026-11-16T04:00:00Z", ["2026-11-16T04:05", "2026-11-16T04:30"]],
  ["0 0 * * mon,THU", "UTC", "2026-11-16T00:00:00Z", ["2026-11-19T00:00", "2026-11-23T00:00"]],
  ["0 0 * * 7", "UTC", "2026-11-16T00:00:00Z", ["2026-11-22T00:00", "2026-11-29T00:00"]],
  ["0 0 1 * 1", "UTC", "2026-11-24T00:00:00Z", ["2026-11-30T00:00", "2026-12-01T00:00"]],
  ["0 0 29 feb ?", "UTC", "2097-01-01T00:00:00Z", ["2104-02-29T00:00", "2108-02-29T00:00"]],
  ["0 0 31 2 *", "UTC", "2026-11-16T00:00:00Z", ["never"]],
  // Clocks are put forward at two o'clock: half past two is half past three then.
  ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:30", "2026-03-30T00:30"]],
  // They are put back at three: half past two is there twice, and counts once.
  ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:30", "2026-10-26T01:30"]],
  ["30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", ["2026-10-25T00:30", "2026-10-25T01:30"]],
  ["30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", ["2026-03-29T00:30", "2026-03-29T01:30"]],
  // A day that was left out: a day is not fired into another one.
  [
    "0 12 30 12 *",
    "Pacific/Apia",
    "2011-12-28T00:00:00Z",
    ["2011-12-30T22:00", "2012-12-29T22:00"],
  ],
];

test("[BK140][BK141] lines fire as people who know cron expect, also where clocks are put forward and back", () => {
  for (const [line, zone, after, expected] of cases) {
    assert.deepEqual(fires(line, zone, after, expected.length), expected, `${line} in ${zone}`);
  }
});

test("[BK140] what is wrong with a line is said", () => {
  const wrong: [string, RegExp][] = [
    ["", /it has 0 fields, not five/],
    ["0 3 * *", /it has 4 fields/],
    ["0 0 3 * * *", /it has 6 fields/],
    ["@daily", /it has 1 fields/],
    ["60 3 * * *", /"60" is no minute: use 0 to 59/],
    ["0 24 * * *", /"24" is no hour/],
    ["0 3 0 * *", /"0" is no day of month: use 1 to 31/],
    ["0 3 * monday *", /"monday" is no month/],
    ["0 3 * * 8", /"8" is no day of week/],
    ["5-1 3 * * *", /"5-1" is no minute/],
    ["*/0 3 * * *", /"\*\/0" is no minute/],
    ["0, 3 * * *", /"" is no minute/],
    ["0 3 * * mon-", /"mon-" is no day of week/],
    ["-1 3 * * *", /"-1" is no minute/],
  ];
  for (const [line, expected] of wrong) {
    const found = parseCron(line);
    assert.ok(!found.ok, line);
    assert.match(found.error, expected);
  }
});

test("[BK141] time zones have the names of the IANA database", () => {
  const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"];
  assert.deepEqual(zones.map(isTimeZone), [true, true, true, true]);
  const others = ["", "Europe/Bonn", "Berlin", "+02:00", "Local", "CEST/2"];
  assert.deepEqual(others.map(isTimeZone), [false, false, false, false, false, false]);
});

const lines = fc
  .tuple(
    fc.constantFrom("0", "*/15", "7,37", "*"),
    fc.constantFrom("*", "3", "0-5", "*/7", "23"),
    fc.constantFrom("*", "1", "29-31", "*/10"),
    fc.constantFrom("*", "2", "jan-jun", "*/5"),
    fc.constantFrom("*", "1", "sat,sun"),
  )
  .map((parts) => parts.join(" "));
const zones = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe");

test("[BK140][BK141] the instant before and the one after agree, and none is left out between them", () => {
  fc.assert(
    fc.property(lines, zones, fc.nat(500 * 1440), (line, zone, minute) => {
      const cron = cronOf(line);
      const fromMs = Date.UTC(2026, 0, 1) + minute * 60_000;
      const next = nextFire(cron, zone, fromMs);
      assert.ok(next !== undefined && next > fromMs);
      assert.equal(lastFire(cron, zone, fromMs, next), next);
      assert.equal(lastFire(cron, zone, fromMs, next - 1), undefined);
      const second = nextFire(cron, zone, next);
      assert.ok(second !== undefined && second > next);
      assert.equal(lastFire(cron, zone, fromMs, second), second);
    }),
    { seed: 1, numRuns: 200 },
  );
});
