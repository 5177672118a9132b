// Tests of an operator that dies at a chosen write, and of watches that are late.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AdminClientFactory } from "../../fdb/admin.ts";
import type { KubeRequest, KubeTransport, WatchEvent } from "../../kube/transport.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { laggingWatch } from "./lagging-watch.ts";
import { OperatorLife } from "./mortal-operator.ts";

const path = "/api/v1/namespaces/default/pods";
const get: KubeRequest = { method: "GET", path };
const post: KubeRequest = { method: "POST", path };

function recorder(): { transport: KubeTransport; seen: string[] } {
  const seen: string[] = [];
  return {
    seen,
    transport: {
      watch: async () => {},
      request: async ({ method }) => {
        seen.push(method);
        return { status: 200, body: {} };
      },
    },
  };
}

test("[W64] an operator dies before or after its write, and says nothing more", async () => {
  for (const moment of ["before", "after"] as const) {
    const { transport, seen } = recorder();
    const life = new OperatorLife();
    const mortal = life.transport(transport);
    life.dieAt({ write: 2, moment });
    await mortal.request(get);
    await mortal.request(post);
    assert.ok(!life.isDead);
    await assert.rejects(mortal.request(post), /dead/);
    assert.ok(life.isDead);
    await assert.rejects(mortal.request(get), /dead/);
    assert.deepEqual(seen, moment === "before" ? ["GET", "POST"] : ["GET", "POST", "POST"]);
  }
});

test("[W64] commands to the database are writes too", async () => {
  const killed: string[] = [];
  const factory = {
    isVersionSupported: () => true,
    installedVersions: () => [],
    open: () => ({
      kill: async (addresses: readonly string[]) => {
        killed.push(...addresses);
      },
      status: async () => ({}),
    }),
  } as unknown as AdminClientFactory;
  const life = new OperatorLife();
  const client = life.admin(factory).open({ name: "", connectionString: "", version: "" });
  life.dieAt({ write: 1, moment: "after" });
  await client.status(1);
  await assert.rejects(client.kill(["10.0.0.1:4501"], 1));
  await assert.rejects(client.status(1));
  assert.deepEqual(killed, ["10.0.0.1:4501"]);
});

test("[W65] late events arrive in order, and before the end of their watch", async () => {
  const clock = new VirtualClock();
  const conditions = { lagMs: 3_000 };
  const source: KubeTransport = {
    request: async () => ({ status: 200, body: {} }),
    watch: async (_request, onEvent) => {
      onEvent({ type: "ADDED", object: 1 });
      conditions.lagMs = 0;
      onEvent({ type: "MODIFIED", object: 2 });
    },
  };
  const events: WatchEvent["type"][] = [];
  let isOver = false;
  const watching = laggingWatch(source, clock, conditions).watch(get, ({ type }) => {
    events.push(type);
  });
  void watching.then(() => {
    isOver = true;
  });
  await clock.advance(2_999);
  assert.deepEqual([events, isOver], [[], false]);
  await clock.advance(1);
  await watching;
  assert.deepEqual(events, ["ADDED", "MODIFIED"]);
});
