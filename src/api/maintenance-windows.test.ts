// What is wrong with maintenance windows, each time with field, value and remedy.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "./cluster-spec.ts";
import { maintenanceWindowsOf, windowProblems, windowWarnings } from "./maintenance-windows.ts";

type Windows = NonNullable<NonNullable<ClusterSpec["automationOptions"]>["maintenanceWindows"]>;

function specWith(...maintenanceWindows: Windows): ClusterSpec {
  return { version: "7.3.63", automationOptions: { maintenanceWindows } };
}

const field = "spec.automationOptions.maintenanceWindows[0]";
const wrong: readonly [string, Windows[number], string, string, RegExp][] = [
  ["[WIN20]", { cron: "0 2 * *", duration: "2h" }, "cron", "0 2 * *", /4 fields, not five/],
  ["[WIN20]", { cron: "0 25 * * *", duration: "2h" }, "cron", "0 25 * * *", /"25" is no hour/],
  ["[WIN20]", { cron: "0 2 30 2 *", duration: "2h" }, "cron", "0 2 30 2 *", /never fires/],
  [
    "[WIN20]",
    { cron: "0 2 * * *", duration: "2h", timeZone: "Mars/Base" },
    "timeZone",
    "Mars/Base",
    /no time zone/,
  ],
  ["[WIN21]", { cron: "0 2 * * *", duration: "two" }, "duration", "two", /is no duration/],
  ["[WIN21]", { cron: "0 2 * * *", duration: "9m" }, "duration", "9m", /too short/],
  ["[WIN21]", { cron: "0 2 1 * *", duration: "8d" }, "duration", "8d", /longer than a week/],
  ["[WIN22]", { cron: "0 * * * *", duration: "1h" }, "duration", "1h", /after 60 minutes/],
  ["[WIN22]", { cron: "0 2 * * *", duration: "1d" }, "duration", "1d", /after 1440 minutes/],
  ["[WIN22]", { cron: "0 2 * * 1,3", duration: "2d" }, "duration", "2d", /after 2880 minutes/],
  ["[WIN22]", { cron: "0 2,22 * * *", duration: "5h" }, "duration", "5h", /after 240 minutes/],
];

for (const [rule, window, name, value, message] of wrong) {
  test(`${rule} refused: ${window.cron} for ${window.duration} ${window.timeZone ?? ""}`, () => {
    const [first, ...others] = windowProblems(specWith(window));
    assert.deepEqual(others, []);
    assert.equal(first?.field, `${field}.${name}`);
    assert.equal(first.value, value);
    assert.match(first.message, message);
    assert.notEqual(first.remedy, "");
  });
}

test("[WIN1] what can be read is in force", () => {
  const spec = specWith(
    { cron: "0 2 * * *", duration: "4h", timeZone: "Europe/Berlin" },
    { cron: "0 2 * * 6", duration: "7d" },
    { cron: "0 2 1 * *", duration: "6d" },
  );
  assert.deepEqual(
    windowProblems(spec).map(({ field: place }) => place),
    ["spec.automationOptions.maintenanceWindows[1].duration"],
  );
  assert.deepEqual(
    maintenanceWindowsOf(spec).map(({ durationMs, timeZone }) => [
      durationMs / 3_600_000,
      timeZone,
    ]),
    [
      [4, "Europe/Berlin"],
      [168, "UTC"],
      [144, "UTC"],
    ],
  );
  assert.deepEqual(maintenanceWindowsOf({ version: "7.3.63" }), []);
});

test("[WIN23] the same opening twice is a warning", () => {
  const one = { cron: "0 2 * * *", duration: "4h" };
  assert.deepEqual(windowWarnings(specWith(one, { ...one, timeZone: "Asia/Tokyo" })), []);
  const [warning] = windowWarnings(specWith(one, { ...one, duration: "2h", timeZone: "UTC" }));
  assert.equal(warning?.field, "spec.automationOptions.maintenanceWindows[1]");
});
