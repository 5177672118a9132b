// A pass that fails is tried again after a pause that grows, whatever the database and the pods tell meanwhile.
// Rules: spec/operate.md [OP77].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { KubeError } from "../../src/kube/error.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { minuteMs, small, TestWorld } from "../world/world-harness.ts";

test("[OP77] news of the database do not end the pause of a pass that failed, a change of the resource does", async () => {
  let isBroken = false;
  const wrapTransport = (transport: KubeTransport): KubeTransport => ({
    watch: (request, onEvent) => transport.watch(request, onEvent),
    request: (request) => {
      if (isBroken && request.method === "PUT" && request.path.endsWith("/status")) {
        throw new KubeError(403, "Forbidden", "not any more");
      }
      return transport.request(request);
    },
  });
  const world = await TestWorld.open({ wrapTransport });
  try {
    await world.createCluster(small);
    await world.untilReconciled();
    await world.clock.advance(minuteMs);
    // There is work to do, so that the database is asked every second.
    await world.changeSpec({ processCounts: { storage: 4, log: 3, stateless: 3 } });
    await world.clock.advance(1_500);
    isBroken = true;
    await world.changeSpec({ processCounts: { storage: 5, log: 3, stateless: 3 } });
    const failed = (): number => world.world.operator.counters().passesFailed;
    await world.clock.advance(2 * minuteMs);
    assert.ok(failed() >= 4 && failed() <= 10, `${failed()} failed passes`);
    const before = failed();
    isBroken = false;
    await world.changeSpec({ processCounts: { storage: 6, log: 3, stateless: 3 } });
    await world.clock.advance(1_000);
    assert.equal(failed(), before);
    assert.equal((await world.pods("storage")).length, 6);
  } finally {
    await world.close();
  }
});
