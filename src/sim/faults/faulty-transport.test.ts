// Tests of the bad road to the API server and of the slow database.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { seededRandom } from "../../env/random.ts";
import type { AdminClient, AdminClientFactory } from "../../fdb/admin.ts";
import { isFdbError } from "../../fdb/error.ts";
import { isKubeError } from "../../kube/error.ts";
import type { KubeTransport } from "../../kube/transport.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { faultyRoad } from "./faulty-transport.ts";
import { slowDatabase } from "./slow-database.ts";

test("[W60] a good road changes nothing, a bad one loses and refuses, a closed one lets nothing through", async () => {
  const clock = new VirtualClock();
  let carriedOut = 0;
  const server: KubeTransport = {
    async request() {
      carriedOut += 1;
      return { status: 200, body: {} };
    },
    watch: (request) =>
      new Promise((resolve) => {
        request.signal?.addEventListener("abort", () => resolve(), { once: true });
      }),
  };
  const road = faultyRoad(server, clock, seededRandom(1));
  const outcome = async (): Promise<string> => {
    const before = carriedOut;
    const asked = road.transport.request({ method: "PUT", path: "/x" }).then(
      ({ status }) => String(status),
      (error: unknown) => (isKubeError(error) ? error.reason : "?"),
    );
    await clock.advance(30_000);
    return `${await asked} ${carriedOut - before}`;
  };
  for (let count = 0; count < 50; count += 1) assert.equal(await outcome(), "200 1");
  road.conditions.failureChance = 1;
  const outcomes = new Set<string>();
  for (let count = 0; count < 100; count += 1) outcomes.add(await outcome());
  assert.deepEqual([...outcomes].sort(), [
    "200 1",
    "409 0",
    "429 0",
    "500 0",
    "Timeout 0",
    "Timeout 1",
    "Unreachable 0",
  ]);
  road.conditions.watchBreakChance = 1;
  const watching = road.transport.watch({ method: "GET", path: "/x" }, () => {});
  const broken = assert.rejects(watching, { reason: "Unreachable" });
  await clock.advance(120_000);
  await broken;
});

test("[W61] a slow database answers late or lets the caller time out after the deed", async () => {
  const clock = new VirtualClock();
  let deeds = 0;
  const client = {
    configure: async () => {
      deeds += 1;
    },
  } as unknown as AdminClient;
  const factory: AdminClientFactory = {
    open: () => client,
    isVersionSupported: () => true,
    installedVersions: () => [],
  };
  const slow = slowDatabase(factory, clock, seededRandom(1));
  const admin = slow.admin.open({ name: "n", connectionString: "a:b@c:1", version: "7.3.63" });
  slow.conditions.slowChance = 1;
  const outcomes = new Set<string>();
  for (let count = 0; count < 30; count += 1) {
    const asked = admin.configure("new single", 1_000).then(
      () => "done",
      (error: unknown) => (isFdbError(error, 1031) ? "timed out" : "?"),
    );
    await clock.advance(1_000);
    outcomes.add(await asked);
  }
  assert.deepEqual([...outcomes].sort(), ["done", "timed out"]);
  assert.equal(deeds, 30);
});
