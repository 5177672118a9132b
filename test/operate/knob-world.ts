// A world of plain objects in which a knob was changed: what plans do about it, and the words to ask for it.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { PlanWorld } from "./plan-world.ts";

export const small: Partial<ClusterSpec> = {
  processCounts: { storage: 3, log: 3, stateless: 2 },
  databaseConfiguration: { redundancy_mode: "double" },
  minimumUptimeSecondsForBounce: 60,
};
export const knob = { general: { customParameters: ["knob_max_trace_lines=100"] } };

type Seen = Extract<Snapshot["database"], { kind: "seen" }>;

/** A world whose pods have a new configuration while the database still shows the old processes. */
export class KnobWorld extends PlanWorld {
  old: DatabaseStatus = {};

  constructor(spec: Partial<ClusterSpec> = small) {
    super(spec);
    assert.ok(this.settle().isReconciled);
    const seen = this.database();
    assert.ok(seen.kind === "seen");
    this.old = structuredClone(seen.status);
    assert.ok(this.old.cluster !== undefined);
    this.old.cluster.fault_tolerance = {
      max_zone_failures_without_losing_availability: 1,
      max_zone_failures_without_losing_data: 1,
    };
  }

  /** The knob is set; the pods follow when they are told to. */
  changeKnob(
    isFollowing: (name: string) => boolean = () => true,
    processes: ClusterSpec["processes"] = knob,
  ): void {
    this.changeSpec({ processes });
    this.step();
    this.step();
    this.nowMs += 2_000;
    this.runPods((pod) => isFollowing(pod.metadata.name ?? ""));
  }

  seen(change: (status: DatabaseStatus) => void = () => {}): Seen {
    const status = structuredClone(this.old);
    change(status);
    return { kind: "seen", observedMs: this.nowMs, status };
  }

  /** One pass that sees the old processes. */
  step(): void {
    const plan = this.plan({ database: this.seen() });
    this.cluster = { ...this.cluster, status: plan.status };
    this.waits = plan.waits;
    for (const action of plan.actions) this.apply(action);
    this.nowMs += 1_000;
  }

  restart(change?: (status: DatabaseStatus) => void, overrides: Partial<Snapshot> = {}): Plan {
    return this.plan({ database: this.seen(change), ...overrides });
  }

  /** The process group runs with the wanted command line, for so long. */
  prove(status: DatabaseStatus, id: string, uptimeSeconds: number): void {
    const seen = this.database();
    assert.ok(seen.kind === "seen");
    const { command_line: line } = processOf(seen.status, id);
    Object.assign(processOf(status, id), { command_line: line, uptime_seconds: uptimeSeconds });
  }

  /** The restart that follows when the first one has proven the command line. */
  restartOthers(change: (status: DatabaseStatus) => void = () => {}): Plan {
    const [first = "", ...others] = killed(this.restart(change)) ?? [];
    assert.deepEqual([first === "", others], [false, []], "one goes first");
    return this.restart((status) => {
      change(status);
      this.prove(status, first, 10);
    });
  }
}

export function killed(plan: Plan): string[] | undefined {
  const kills = plan.actions.flatMap((action) => (action.type === "killProcesses" ? [action] : []));
  assert.ok(kills.length <= 1, "one act");
  const [kill] = kills;
  return kill && [...kill.processGroupIds];
}

export function waitOf(plan: Plan): string {
  const wait = plan.waits.find((one) => one.step === "bounceProcesses");
  return wait === undefined ? "" : `${wait.reason}: ${wait.message}`;
}

export function processOf(status: DatabaseStatus, id: string): StatusProcess {
  const found = Object.values(status.cluster?.processes ?? {}).find(
    (process) => process.locality?.["instance_id"] === id,
  );
  assert.ok(found !== undefined);
  return found;
}

export function idsOf(world: PlanWorld, processClass: string): string[] {
  return (world.cluster.status?.processGroups ?? [])
    .filter((group) => group.processClass === processClass)
    .map((group) => group.processGroupID);
}

export const away = (status: DatabaseStatus, id: string): void => {
  const processes = status.cluster?.processes ?? {};
  for (const [key, process] of Object.entries(processes)) {
    if (process.locality?.["instance_id"] === id) delete processes[key];
  }
};

export const roles = (status: DatabaseStatus, id: string, ...names: string[]): void => {
  processOf(status, id).roles = names.map((role) => ({ role }));
};
