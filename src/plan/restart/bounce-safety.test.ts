// What keeps a restart of everything from being allowed, and what is told of it. Proves [U44] of spec/upgrade.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { restartObstacle } from "./bounce-safety.ts";

const spec = { version: "7.3.63", minimumUptimeSecondsForBounce: 60 };
const running = "7.3.63";

function statusOf(available: boolean, seconds: number, generations = 1): DatabaseStatus {
  return {
    client: { database_status: { available, healthy: available } },
    cluster: {
      processes: { a: { uptime_seconds: seconds } },
      recovery_state: {
        name: "fully_recovered",
        seconds_since_last_recovered: seconds,
        active_generations: generations,
      },
    },
  };
}

const rows: readonly [what: string, status: DatabaseStatus | undefined, told: RegExp, RegExp][] = [
  ["is silent", undefined, /^The database does not answer$/, /look at the status/],
  ["is down", statusOf(false, 900), /^The database is not available$/, /look at the status/],
  [
    "is down, which no time heals",
    statusOf(false, 1),
    /^The database is not available$/,
    /look at the status/,
  ],
  [
    "has recovered too often",
    statusOf(true, 1, 11),
    /^The database has more than 10 active generations$/,
    /look at the status/,
  ],
  [
    "has just recovered",
    statusOf(true, 59),
    /^Not everything has been running for 60 seconds/,
    /^Nothing: it happens then/,
  ],
];

for (const [what, status, told, remedy] of rows) {
  test(`[U44] a database that ${what} is not restarted, and the wait says what to do`, () => {
    const held = restartObstacle({ spec }, status, running, []);
    assert.equal(held?.reason, "RestartHeld");
    assert.match(held.message, told);
    assert.match(held.remedy, remedy);
  });
}

test("[U44] a database that has been running for long enough is restarted", () => {
  assert.equal(restartObstacle({ spec }, statusOf(true, 60), running, []), undefined);
});
