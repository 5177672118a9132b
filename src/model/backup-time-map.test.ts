// The map of times and versions of a backup, against databases whose versions are known at every moment.
// Proves the rules BK130 to BK132 of spec/backup.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import {
  formatTimeMap,
  newestPair,
  parseTimeLines,
  parseTimeMap,
  timeMapName,
  backupNameOfTimeMap,
  versionAtTime,
} from "./backup-time-map.ts";
import type { TimedVersion, TimePair } from "./backup-time-map.ts";
import { extendTimeMap, thinTimeMap, timePairsMax } from "./backup-time-thinning.ts";

const million = 1_000_000;
const start = Date.UTC(2026, 10, 16, 8) / 1000;

/** A pair every ten seconds, at a million versions a second. */
function steady(count: number, from: TimedVersion = { seconds: start, version: 5 * million }) {
  return Array.from({ length: count }, (_, index) => ({
    seconds: from.seconds + 10 * index,
    version: from.version + 10 * index * million,
  }));
}

test("[BK130] a map is written a line for each pair and read back, with the newest at its end", () => {
  const pairs: TimePair[] = [
    { seconds: start, version: 5 },
    { seconds: start + 600, version: 110_000_000, isAfterGap: true },
  ];
  const data = formatTimeMap(pairs);
  assert.deepEqual(data, {
    timeline: "2026-11-16T08:00:00Z 5\n2026-11-16T08:10:00Z 110000000 gap\n",
  });
  assert.deepEqual(parseTimeMap(data), pairs);
  assert.deepEqual(newestPair(data), pairs[1]);
  assert.deepEqual(newestPair(undefined), undefined);
  assert.deepEqual(parseTimeMap(undefined), []);
  assert.equal(backupNameOfTimeMap(timeMapName("nightly")), "nightly");
});

test("[BK131] a line that somebody has damaged makes a gap, not a wrong answer", () => {
  const lines = [
    "2026-11-16T08:00:00Z 5000000",
    "2026-11-16T08:00:10Z fifteen",
    "2026-11-16T08:00:20Z 25000000",
    "2026-11-16T08:00:10Z 15000000",
    "2026-11-16T08:00:30Z 99999999999999999999",
    "",
  ];
  assert.deepEqual(parseTimeLines(lines), [
    { seconds: start, version: 5 * million },
    { seconds: start + 20, version: 25 * million, isAfterGap: true },
  ]);
});

const cases: [string, number, object][] = [
  ["before the first pair", -1, { kind: "before", first: steady(1)[0] }],
  // Seconds are rounded down, so the second of the first pair itself is not covered.
  ["at the first pair", 0, { kind: "before", first: steady(1)[0] }],
  ["between two pairs", 305, { version: 307 * million, errorSeconds: 6, isAfterLast: false }],
  ["at a pair", 600, { version: 602 * million, errorSeconds: 6, isAfterLast: false }],
  ["before a recovery", 1195, { version: 1195 * million, errorSeconds: 5, isAfterLast: false }],
  ["in a recovery", 1240, { version: 1195 * million, errorSeconds: 50, isAfterLast: false }],
  ["after a recovery", 1300, { version: 1332 * million, errorSeconds: 6, isAfterLast: false }],
  ["after the last pair", 9000, { isAfterLast: true }],
];

test("[BK131] times become versions that are never later", () => {
  const first = steady(120);
  // The database stood still for a minute, and versions went on a hundred million later.
  const second = steady(120, { seconds: start + 1250, version: 1285 * million });
  const pairs = thinTimeMap(extendTimeMap([], [...first, ...second]));
  assert.deepEqual(
    pairs.map(({ seconds, isAfterGap }) => `${seconds - start}${isAfterGap ? " gap" : ""}`),
    ["0", "600", "1190", "1250 gap", "1800", "2400", "2440"],
  );
  for (const [what, seconds, expected] of cases) {
    const found = versionAtTime(pairs, start + seconds);
    const kind = { kind: "found" };
    assert.deepEqual(found, { ...kind, ...found, ...expected }, what);
  }
  assert.deepEqual(versionAtTime([], start), { kind: "before", first: undefined });
});

/** What a database did for a while. */
interface Stretch {
  readonly seconds: number;
  readonly kind: "runs" | "slow" | "recovers";
}

const stretches = fc.array(
  fc.record({
    seconds: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 4_000 })),
    kind: fc.constantFrom<Stretch["kind"]>("runs", "runs", "slow", "recovers"),
  }),
  { minLength: 1, maxLength: 30 },
);

/** The version of each second, and the pairs that such a database notes while it serves. */
function historyOf(parts: readonly Stretch[], lag: (second: number) => number) {
  const ideal: number[] = [];
  const serves: boolean[] = [];
  let version = 1_000_000;
  for (const { seconds, kind } of parts) {
    for (
      let second = 0;
      second < Math.min(seconds, kind === "recovers" ? 200 : 4_000);
      second += 1
    ) {
      ideal.push(Math.floor(version));
      serves.push(kind !== "recovers");
      version += kind === "runs" ? million : kind === "slow" ? 0.9 * million : 0;
    }
    if (kind === "recovers") version += 100 * million;
  }
  // What is read may be up to two seconds old, but not from before a recovery.
  const versions = ideal.map((own, second) => {
    const older = ideal[second - lag(second)] ?? own;
    return own - older > 3 * million ? own : older;
  });
  const rising = versions.map((_, index) =>
    Math.max(...versions.slice(Math.max(0, index - 3), index + 1)),
  );
  const noted = rising.flatMap((each, second): TimedVersion[] =>
    second % 10 === 0 && serves[second] === true
      ? [{ seconds: start + second, version: each }]
      : [],
  );
  return { versions: rising, noted };
}

test("[BK131][BK132] whatever a database does, no answer is later than asked for, nor earlier than it says", () => {
  fc.assert(
    fc.property(stretches, fc.integer(), fc.array(fc.nat(20_000)), (parts, seed, asked) => {
      const { versions, noted } = historyOf(parts, (second) => Math.abs(seed + second * 7) % 3);
      const half = Math.floor(noted.length / 2);
      // In two pieces, as it is written.
      const once = thinTimeMap(extendTimeMap([], noted.slice(0, half)));
      const pairs = thinTimeMap(extendTimeMap(once, noted.slice(half)));
      for (const each of asked) {
        const second = each % versions.length;
        const found = versionAtTime(pairs, start + second);
        if (found.kind === "before") continue;
        const earliest = versions[Math.max(0, second - found.errorSeconds)] ?? 0;
        assert.ok(found.version <= (versions[second] ?? 0), `too late at ${second}`);
        assert.ok(found.version >= earliest, `too early at ${second}`);
      }
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("[BK131][BK132] recoveries that are left out leave a gap", () => {
  // Eight times within ten minutes the database serves for ten seconds and stands still for a minute.
  const noted = Array.from({ length: 8 }, (_, index) =>
    steady(2, { seconds: start + 70 * index, version: 120 * million * index }),
  ).flat();
  const pairs = thinTimeMap(
    extendTimeMap([], [...noted, { seconds: start + 570, version: 970 * million }]),
  );
  assert.deepEqual(
    pairs.map(({ seconds, isAfterGap }) => `${seconds - start}${isAfterGap ? " gap" : ""}`),
    ["0", "10", "70 gap", "80", "140 gap", "570 gap"],
  );
  const found = versionAtTime(pairs, start + 560);
  assert.deepEqual(found, { ...found, version: 240 * million, errorSeconds: 420 });
});

test("[BK132] a year of pairs is thinned with age, and thinning again changes nothing", () => {
  const year = steady(365 * 8640).filter(
    (_, index, { length }) => index % 60 === 0 || index === length - 1,
  );
  const pairs = thinTimeMap(year);
  assert.ok(pairs.length > 4_000 && pairs.length < 4_500, String(pairs.length));
  assert.deepEqual(pairs[0], year[0]);
  assert.deepEqual(pairs.at(-1), year.at(-1));
  assert.deepEqual(thinTimeMap(pairs), pairs);
  assert.ok(formatTimeMap(pairs)["timeline"]!.length < 200_000);
});

test("[BK132] a database that recovers all the time for months still has a small map", () => {
  const noted = steady(60 * 8640).map(({ seconds, version }, index) => ({
    seconds,
    version: version + Math.floor(index / 6) * 100 * million,
  }));
  const pairs = thinTimeMap(extendTimeMap([], noted));
  assert.ok(pairs.length <= timePairsMax && pairs.length > timePairsMax / 4, String(pairs.length));
  assert.ok(formatTimeMap(pairs)["timeline"]!.length < 300_000);
});

test("[BK136] a time before the database was made anew has no version of the old one", () => {
  const old = parseTimeLines(["2026-11-01T00:00:00Z 500000000", "2026-11-01T00:10:00Z 1100000000"]);
  const noted = steady(200).map(({ seconds }, index) => ({
    seconds,
    version: index * 10 * million,
  }));
  const pairs = extendTimeMap(old, noted);
  assert.ok(pairs.length === noted.length + 2 && (noted.at(-1)?.version ?? 0) > 500_000_000);
  const before = Date.parse("2026-11-01T00:05:00Z") / 1000;
  assert.deepEqual(versionAtTime(pairs, before), { kind: "before", first: pairs[2] });
  const found = versionAtTime(pairs, (noted.at(-1)?.seconds ?? 0) - 5);
  assert.equal(found.kind, "found");
});
