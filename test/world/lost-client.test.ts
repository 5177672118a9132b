// The client of the database is lost again and again, before or after what it was asked to do. Rules:
// spec/real-database.md [DB14], [DB24].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AdminClient, AdminClientFactory } from "../../src/fdb/admin.ts";
import { LostClientError } from "../../src/fdb/client/lost-client-error.ts";
import { throughCalls } from "../../src/sim/faults/admin-calls.ts";
import {
  assertAllCopies,
  assertNothingExcluded,
  classSize,
  spreadOver,
  untilSettled,
} from "./removal-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

const commands = ["configure", "exclude", "include", "kill", "changeCoordinators"] as const;

interface Loss {
  readonly lost: string[];
  readonly wrap: (admin: AdminClientFactory) => AdminClientFactory;
}

/** Two of three commands are answered by the end of the client: one was carried out, one was not. */
function losing(): Loss {
  const lost: string[] = [];
  let calls = 0;
  const lose = async (name: string, call: () => Promise<unknown>): Promise<unknown> => {
    calls += 1;
    if (calls % 3 === 0) return call();
    if (calls % 3 === 1) await call();
    lost.push(name);
    throw new LostClientError("it was ended by SIGSEGV");
  };
  const wrapClient = (client: AdminClient): AdminClient => {
    const faulty = throughCalls(client, (call) => call());
    for (const name of commands) {
      const run = faulty[name] as (...args: unknown[]) => Promise<unknown>;
      Object.assign(faulty, {
        [name]: (...args: unknown[]) => lose(name, () => run(...args)),
      });
    }
    return faulty;
  };
  return {
    lost,
    wrap: (admin) => ({ ...admin, open: (options) => wrapClient(admin.open(options)) }),
  };
}

test("[DB14] [DB24] a client that is lost in most commands delays the operator and harms nothing", async () => {
  const { lost, wrap } = losing();
  await TestWorld.runWithCluster(
    { ...spreadOver({ storage: 4, log: 3, stateless: 3 }), wrapAdmin: wrap },
    async (world) => {
      await world.changeSpec({ processCounts: { storage: 3 } });
      await untilSettled(world);
      assert.equal(await classSize(world, "storage"), 3);
      const customParameters = ["knob_max_trace_lines=5"];
      await world.changeSpec({ processes: { general: { customParameters } } });
      await world.clock.advance(minuteMs);
      await untilSettled(world);
      await assertNothingExcluded(world);
      await assertAllCopies(world);
    },
  );
  for (const name of ["configure", "exclude", "include", "kill"]) {
    assert.ok(lost.includes(name), `${name} was never lost: ${lost.join(" ")}`);
  }
});
