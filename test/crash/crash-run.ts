// One life of a cluster through a scenario, with at most one crash of the operator: at a chosen write, before it leaves
// or after it was carried out. A new operator takes over a little later. Rules: spec/crash.md.
import type { AdminClient, AdminClientFactory } from "../../src/fdb/admin.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { runTerms } from "../../src/operate/terms.ts";
import { OperatorLife } from "../../src/sim/faults/mortal-operator.ts";
import type { Death } from "../../src/sim/faults/mortal-operator.ts";
import { longestRecoveryMs } from "../../src/sim/workloads/watchman.ts";
import { untilSettled } from "../world/removal-harness.ts";
import { longestStallMs } from "../world/restart-harness.ts";
import { TestWorld, minuteMs } from "../world/world-harness.ts";
import { finalState } from "./final-state.ts";
import type { FinalState } from "./final-state.ts";
import type { Scenario } from "./scenarios.ts";

export type Program = typeof runTerms;

export interface CrashRun {
  /** Writes of the first operator from the change on, as people read them. */
  writes: string[];
  hasCrashed: boolean;
  end: End;
}

/** What a crash must not change. */
export interface End extends FinalState {
  /** How often the database was told to create itself, and its processes to restart. */
  creations: number;
  restarts: number;
  /** Commands of backups that were begun, in order. */
  commands: string[];
  /** Whether at some time commits stood still for longer than a recovery takes. */
  isStallTooLong: boolean;
  /** Whether a cluster at rest was written to. */
  isRestless: boolean;
}

const pauseMs = 5_000;
/** Everything that follows a change, deferred removals and inclusions too, has happened by then. */
const settleMs = 2 * minuteMs;
const limitMs = 20 * minuteMs;

/** With another version of the operator as the first one, the one that dies. */
export async function runScenario(
  scenario: Scenario,
  death?: Death,
  first?: Program,
): Promise<CrashRun> {
  const record = new WriteRecord();
  const world = await TestWorld.open({
    seed: scenario.seed ?? 1,
    nodes: 7,
    keepLines: 60,
    wrapTransport: (transport) => record.transport(transport),
    wrapAdmin: (admin) => record.admin(admin),
    programOf: (number) => (number === 1 ? (first ?? runTerms) : runTerms),
  });
  try {
    if (scenario.startsWithCluster) {
      await world.createCluster(scenario.spec);
      await world.untilReconciled();
      await world.clock.advance(minuteMs);
    }
    await scenario.prepare?.(world);
    const startMs = world.clock.nowMs();
    const { life } = record;
    record.restarts = 0;
    record.names.length = 0;
    record.commands.length = 0;
    life.dieAt(death);
    await scenario.change(world, scenario.spec);
    const waitMs = scenario.endsAfterMs ?? limitMs;
    if (death !== undefined) await takeOver(world, record, waitMs);
    if (scenario.endsAfterMs !== undefined) {
      await world.clock.run({ until: () => false, untilMs: startMs + scenario.endsAfterMs });
    }
    const end = await endOf(world, record, scenario.endsAfterMs === undefined);
    const isStallTooLong =
      scenario.startsWithCluster &&
      scenario.isStopWanted !== true &&
      longestStallMs(world, startMs) > longestRecoveryMs;
    const writes = Array.from({ length: life.writes }, (_, index) => record.nameOf(index + 1));
    return { writes, hasCrashed: life.isDead, end: { ...end, isStallTooLong } };
  } finally {
    await world.close();
  }
}

/** Waits for the death of the operator; another one begins a little later. */
async function takeOver(world: TestWorld, record: WriteRecord, waitMs: number): Promise<void> {
  const { life } = record;
  const untilMs = world.clock.nowMs() + waitMs;
  await world.clock.run({ until: () => life.isDead, untilMs });
  await world.during(world.world.stopOperator(), minuteMs, "the end of the dead operator");
  await world.clock.advance(pauseMs);
  record.life = new OperatorLife();
  world.world.startOperator();
}

async function endOf(
  world: TestWorld,
  record: WriteRecord,
  isRestWatched: boolean,
): Promise<Omit<End, "isStallTooLong">> {
  await untilSettled(world, limitMs);
  if (isRestWatched) {
    await world.clock.advance(settleMs);
    await untilSettled(world, limitMs);
  }
  const state = await finalState(world);
  const { writes } = record.life;
  // A backup at rest is written to every ten minutes.
  if (isRestWatched) await world.clock.advance(minuteMs);
  const { creations, restarts, commands, life } = record;
  return { ...state, creations, restarts, commands, isRestless: life.writes !== writes };
}

/** Stands between the operator of the moment and the world, and knows what was written. */
class WriteRecord {
  life = new OperatorLife();
  /** By number; a transaction has no name, since most of them write nothing. */
  readonly names: string[] = [];
  readonly commands: string[] = [];
  creations = 0;
  restarts = 0;

  nameOf(write: number): string {
    return this.names[write] ?? "transaction";
  }

  transport(transport: KubeTransport): KubeTransport {
    const { life } = this;
    return life.transport({
      watch: (request, onEvent) => transport.watch(request, onEvent),
      request: async (request) => {
        if (request.method !== "GET" && !request.path.includes("/events")) {
          this.#note(life, `${request.method} ${request.path.split("/").slice(-3).join("/")}`);
        }
        const answer = await transport.request(request);
        const isMade = request.method === "POST" && answer.status === 201;
        const command = isMade ? commandOf(answer.body) : undefined;
        if (command !== undefined) this.commands.push(command);
        return answer;
      },
    });
  }

  admin(admin: AdminClientFactory): AdminClientFactory {
    const { life } = this;
    return life.admin({ ...admin, open: (options) => this.#client(admin.open(options), life) });
  }

  #client(client: AdminClient, life: OperatorLife): AdminClient {
    return {
      ...client,
      configure: (text, timeoutMs) => {
        if (text.startsWith("new ")) this.creations += 1;
        this.#note(life, `configure ${text}`);
        return client.configure(text, timeoutMs);
      },
      exclude: (targets, options) => {
        this.#note(life, `exclude ${targets.join(" ")}`);
        return client.exclude(targets, options);
      },
      include: (targets, timeoutMs) => {
        this.#note(life, `include ${targets.join(" ")}`);
        return client.include(targets, timeoutMs);
      },
      kill: (addresses, timeoutMs) => {
        this.restarts += 1;
        this.#note(life, `kill ${addresses.join(" ")}`);
        return client.kill(addresses, timeoutMs);
      },
      changeCoordinators: (addresses, timeoutMs) => {
        this.#note(life, `coordinators ${addresses.join(" ")}`);
        return client.changeCoordinators(addresses, timeoutMs);
      },
      setMaintenanceZone: (zone, seconds, timeoutMs) => {
        this.#note(life, `maintenance on ${zone}`);
        return client.setMaintenanceZone(zone, seconds, timeoutMs);
      },
      resetMaintenanceZone: (timeoutMs) => {
        this.#note(life, "maintenance off");
        return client.resetMaintenanceZone(timeoutMs);
      },
    };
  }

  #note(life: OperatorLife, name: string): void {
    this.names[life.writes] ??= name;
  }
}

/** Which command of a backup a created pod runs. */
function commandOf(body: unknown): string | undefined {
  const { kind, metadata } = body as KubeObject;
  return kind === "Pod" ? metadata.labels?.["foundationdb.org/backup-command"] : undefined;
}
