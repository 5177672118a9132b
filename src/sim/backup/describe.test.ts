// What is found in a container, and what expire takes from it, against what the real tool printed for the same content.
import assert from "node:assert/strict";
import { test } from "node:test";
import { capture } from "./captures.ts";
import { logObject, propertyObject, readContent, snapshotObject } from "./container-objects.ts";
import type { StoredObject } from "./container-objects.ts";
import { descriptionJson, descriptionText } from "./describe-text.ts";
import { describe } from "./describe.ts";
import { planExpiry } from "./expire.ts";
import { planRestore } from "./restore-plan.ts";

interface Point {
  Version: number;
  EpochSeconds?: number;
}

interface Printed {
  URL: string;
  FileLevelEncryption: boolean;
  Snapshots: { Start: Point; End: Point; TotalBytes: number }[];
  ExpiredEnd?: Point;
  MinLogBegin?: Point;
  MaxLogEnd?: Point;
}

function printedOf(name: string): Printed {
  return JSON.parse(capture(name).stdout) as Printed;
}

/** The objects behind a printed JSON; the logs are cut into pieces of twenty million versions. */
function objectsOf(printed: Printed): StoredObject[] {
  const name = "x";
  const [begin, end] = [printed.MinLogBegin?.Version, printed.MaxLogEnd?.Version];
  const logs: StoredObject[] = [];
  for (let at = begin ?? 0; at < (end ?? 0); at += 20_000_000) {
    const endVersion = Math.min(end ?? 0, at + 20_000_000);
    logs.push(
      logObject(name, String(at), { kind: "log", beginVersion: at, endVersion, commits: [] }),
    );
  }
  const expired = printed.ExpiredEnd?.Version;
  const properties = [
    ...(printed.FileLevelEncryption ? [propertyObject(name, "encryption_metadata", "key")] : []),
    ...(expired === undefined
      ? []
      : [
          propertyObject(name, "expired_end_version", String(expired)),
          propertyObject(name, "unreliable_end_version", String(expired)),
        ]),
  ];
  const snapshots = printed.Snapshots.map(({ Start, End, TotalBytes }) =>
    snapshotObject(name, {
      kind: "snapshot",
      beginVersion: Start.Version,
      endVersion: End.Version,
      bytes: TotalBytes,
      files: [],
    }),
  );
  return [...logs, ...properties, ...snapshots];
}

function secondsOf(printed: Printed): (version: number) => number {
  const seconds = new Map<number, number>();
  JSON.stringify(printed, (_key, value: unknown) => {
    const point = value as Partial<Point> | null;
    if (point?.Version !== undefined) seconds.set(point.Version, point.EpochSeconds ?? 0);
    return value;
  });
  return (version) => seconds.get(version) ?? 0;
}

type SecondOf = ReturnType<typeof secondsOf>;

/** Shown to the last character as it was captured; versions as times where the capture has them. */
function assertDescribed(name: string, seconds: { json?: SecondOf; text?: SecondOf } = {}): void {
  const printed = printedOf(`${name}-json`);
  const shown = describe(readContent("x", objectsOf(printed)));
  assert.equal(
    `${descriptionJson(printed.URL, shown, seconds.json)}\n`,
    capture(`${name}-json`).stdout,
  );
  assert.equal(
    `${descriptionText(printed.URL, shown, seconds.text)}\n`,
    capture(`${name}-text`).stdout,
  );
}

for (const name of [
  "02-describe/db100-restorable",
  "02-describe/several-snapshots",
  "02-describe/just-started",
  "03-expire/slow-after-force",
]) {
  test(`[BSIM5] ${name} is described to the last character, as JSON and as text`, () => {
    assertDescribed(name);
  });
}

test("[BSIM5] with the database at hand, versions are shown as times", () => {
  const name = "02-describe/db100-version-timestamps";
  const secondOf = secondsOf(printedOf(`${name}-json`));
  assertDescribed(name, { json: secondOf, text: secondOf });
});

test("[BSIM5] an expired part of a snapshot is shown with its share, and does not count as restorable", () => {
  const name = "03-expire/db100-after-version-ok";
  assertDescribed(name, { json: secondsOf(printedOf(`${name}-json`)) });
});

test("[BSIM5] a lost log ends the window there, until a snapshot behind it is restorable; then that begins it", () => {
  const objects = objectsOf(printedOf("02-describe/several-snapshots-json"));
  const logs = objects.filter(({ content }) => content.kind === "log");
  const windowWithout = (index: number, options = { seesBehindGap: true }): unknown[] => {
    const left = objects.filter((object) => object !== logs[index]);
    const { minRestorable, maxRestorable } = describe(readContent("x", left), options);
    return [minRestorable, maxRestorable];
  };
  assert.deepEqual(windowWithout(16), [161_005_537, 480_227_537]);
  assert.deepEqual(windowWithout(5), [371_359_803, 526_779_921]);
  assert.deepEqual(windowWithout(5, { seesBehindGap: false }), [161_005_537, 260_227_537]);
  assert.deepEqual(windowWithout(0), [279_749_248, 526_779_921]);
});

test("[BSIM24] a snapshot of one version that is ahead of the logs is the whole window, as 7.3.79 prints it", () => {
  // Of a real database with few keys; it had fifty more snapshots between these.
  const [logBegin, logEnd, ahead] = [866_105_056, 1_026_105_056, 1_049_886_213];
  const single = (version: number): Printed["Snapshots"][number] => ({
    Start: { Version: version },
    End: { Version: version },
    TotalBytes: 11_349,
  });
  const windowOf = (versions: number[], seesBehindGap = true): unknown[] => {
    const printed: Printed = {
      ...{ URL: "x", FileLevelEncryption: false, Snapshots: versions.map(single) },
      MinLogBegin: { Version: logBegin },
      MaxLogEnd: { Version: logEnd },
    };
    const found = describe(readContent("x", objectsOf(printed)), { isDeep: true, seesBehindGap });
    assert.ok(found.snapshots.every(({ isRestorable }) => isRestorable));
    return [found.minRestorable, found.maxRestorable];
  };
  const reached = [866_299_309, 868_233_254];
  assert.deepEqual(windowOf([...reached, ahead]), [ahead, ahead]);
  assert.deepEqual(windowOf(reached), [866_299_309, logEnd - 1]);
  assert.deepEqual(windowOf([...reached, logEnd]), [866_299_309, logEnd], "where the logs end");
  assert.deepEqual(windowOf([...reached, ahead], false), [866_299_309, ahead], "older tools");
});

test("[BSIM24] a snapshot of one version needs no log", () => {
  const Snapshots = [{ Start: { Version: 7 }, End: { Version: 7 }, TotalBytes: 1 }];
  const objects = objectsOf({ URL: "x", FileLevelEncryption: false, Snapshots });
  const { minRestorable, maxRestorable } = describe(readContent("x", objects));
  assert.deepEqual([minRestorable, maxRestorable], [7, 7]);
});

test("[BSIM5] [BSIM18] behind and before a lost log one can go back, but not to what it held", () => {
  const objects = objectsOf(printedOf("02-describe/several-snapshots-json"));
  const lost = objects.filter(({ content }) => content.kind === "log")[5];
  const left = objects.filter((object) => object !== lost);
  const everything = [{ begin: "", end: "\xff" }];
  const beginOf = (version: number): number =>
    planRestore("x", left, version, everything).beginVersion;
  assert.equal(beginOf(250_000_000), 174_842_064);
  assert.equal(beginOf(380_000_000), 285_898_784);
  for (const version of [270_000_000, 290_000_000]) {
    assert.throws(() => beginOf(version), { code: 2361 });
  }
});

const cases: [string, string, Parameters<typeof planExpiry>[2], "refused" | "nothing" | number][] =
  [
    [
      "03-expire/slow-before-json",
      "whole-refused",
      { beforeVersion: 240_413_462, restorableAfter: 240_413_461, isForced: false },
      "refused",
    ],
    [
      "03-expire/slow-before-json",
      "whole-refused-no-restorable-after",
      { beforeVersion: 240_413_462, restorableAfter: undefined, isForced: false },
      "refused",
    ],
    [
      "03-expire/slow-before-json",
      "whole-force",
      { beforeVersion: 240_413_462, restorableAfter: undefined, isForced: true },
      240_413_462,
    ],
    [
      "02-describe/several-snapshots-json",
      "version-no-restorable-after",
      { beforeVersion: 223_039_052, restorableAfter: undefined, isForced: false },
      220_227_538,
    ],
    [
      "02-describe/several-snapshots-json",
      "version-ok",
      { beforeVersion: 231_579_232, restorableAfter: 279_749_248, isForced: false },
      220_227_538,
    ],
    [
      "02-describe/several-snapshots-json",
      "version-in-the-future",
      { beforeVersion: 1_000_526_779_921, restorableAfter: 526_779_921, isForced: false },
      "refused",
    ],
    [
      "02-describe/several-snapshots-json",
      "days",
      { beforeVersion: -86_400_000_000, restorableAfter: -86_400_000_000, isForced: false },
      "nothing",
    ],
  ];

for (const [before, name, request, wanted] of cases) {
  test(`[BSIM6] expire ${name}: ${wanted}`, () => {
    const expiry = planExpiry("x", objectsOf(printedOf(before)), request);
    assert.equal(expiry.kind === "removal" ? expiry.expiredEnd : expiry.kind, wanted);
    assert.equal(capture(`03-expire/${name}`).code, wanted === "refused" ? 1 : 0);
  });
}
