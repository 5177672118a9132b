// Tests of what is said about a database that does not serve.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { unavailabilityOf } from "./unavailability.ts";

const coordinator = (address: string, reachable: boolean) => ({ address, reachable });
const quorum = { quorum_reachable: true, coordinators: [coordinator("10.0.0.1:4501", true)] };

const cases: [string, DatabaseStatus, string][] = [
  [
    "coordinators that cannot be reached are named",
    {
      client: {
        coordinators: {
          quorum_reachable: false,
          coordinators: [
            coordinator("10.0.0.1:4501", true),
            coordinator("10.0.0.2:4501", false),
            coordinator("10.0.0.3:4501", false),
          ],
        },
      },
    },
    "2 of 3 coordinators cannot be reached: 10.0.0.2:4501 and 10.0.0.3:4501",
  ],
  [
    "a recovery that waits for logs says so although its description speaks of coordinators",
    {
      client: { coordinators: quorum },
      cluster: {
        recovery_state: {
          name: "locking_coordinated_state",
          description: "Verify the coordinators.",
          missing_logs: "4f3a",
        },
      },
    },
    "it waits for transaction logs of its last generation, and too many are gone (4f3a)",
  ],
  [
    "otherwise the description of the recovery stands",
    {
      client: { coordinators: quorum },
      cluster: { recovery_state: { name: "accepting_commits", description: "Soon." } },
    },
    "Soon.",
  ],
  [
    "without a recovery state the first message stands",
    {
      client: { coordinators: quorum },
      cluster: { messages: [{ name: "unreadable", description: "Unreadable." }] },
    },
    "Unreadable.",
  ],
  ["a status that says nothing is told as that", {}, "it gives no reason"],
];

for (const [title, status, expected] of cases) {
  test(`[E46] ${title}`, () => assert.equal(unavailabilityOf(status), expected));
}
