// What a process group may hold, judged by what statuses have shown of it. Rules: spec/safety.md [S68], [S69].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { StatusProcess } from "../../model/database-status.ts";
import { removalProblem } from "./certificate.ts";
import { holdingOf, noteRoles } from "./role-history.ts";
import type { Holding, RoleHistories } from "./role-history.ts";
import {
  excludeSample,
  killSample,
  sampleDatabase,
  sampleGroup,
  sampleNowMs,
  sampleProcess,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";

const minuteMs = 60_000;

/** One status of a life: how long before the end, and what is different from a process that runs well. */
interface Look {
  readonly ageMinutes: number;
  readonly process?: Partial<StatusProcess> | "missing";
  readonly isIncomplete?: boolean;
  /** Another pod than before. */
  readonly pod?: { uid: string; phase: string } | "missing";
}

interface Life {
  readonly title: string;
  readonly id?: string;
  /** In the order of time; the process is dead at the end. */
  readonly looks: readonly Look[];
  readonly expected: Holding;
}

/** Every minute from the one age to the other. */
function every(from: number, to: number, look: Partial<Look> = {}): Look[] {
  return Array.from({ length: from - to + 1 }, (_, index) => ({
    ageMinutes: from - index,
    ...look,
  }));
}

const watched = every(30, 5);
const dead = every(4, 1, { process: "missing" });
const shows = (...roles: string[]): Partial<StatusProcess> => ({
  roles: roles.map((role) => ({ role })),
});
const reborn = { uid: "uid-2", phase: "Running" };

const lives: readonly Life[] = [
  {
    title: "one that was watched and had no role",
    looks: [...watched, ...dead],
    expected: "nothing",
  },
  {
    title: "roles that keep nothing",
    looks: [...every(30, 5, { process: shows("master", "grv_proxy", "ratekeeper") }), ...dead],
    expected: "nothing",
  },
  { title: "one that nobody has seen", looks: dead, expected: "data" },
  { title: "an operator that started after its death", looks: [], expected: "data" },
  {
    title: "an operator that saw it for nine minutes",
    looks: [...every(13, 5), ...dead],
    expected: "data",
  },
  {
    title: "and for ten",
    looks: [...every(14, 4), ...every(3, 1, { process: "missing" })],
    expected: "nothing",
  },
  {
    title: "one that restarts again and again and never tells what is on its disk",
    looks: [...every(30, 5, { process: { uptime_seconds: 30 } }), ...dead],
    expected: "data",
  },
  {
    title: "one that had settled and restarted in its pod just before it died",
    looks: [...every(30, 6), { ageMinutes: 5, process: { uptime_seconds: 20 } }, ...dead],
    expected: "nothing",
  },
  {
    title: "one that does not tell how long it has run",
    looks: [...every(30, 5, { process: { uptime_seconds: undefined } as never }), ...dead],
    expected: "data",
  },
  ...["storage", "coordinator", "a_role_of_tomorrow"].flatMap((role): Life[] => [
    {
      title: `one that was ${role} once`,
      looks: [{ ageMinutes: 31, process: shows(role) }, ...watched, ...dead],
      expected: "data",
    },
    {
      title: `one that was ${role} once, in a status that did not tell everything`,
      looks: [
        ...every(30, 20),
        { ageMinutes: 19, process: shows(role), isIncomplete: true },
        ...every(18, 5),
        ...dead,
      ],
      expected: "data",
    },
    {
      title: `one that was ${role} in a pod before`,
      looks: [
        ...every(45, 31, { process: shows(role) }),
        ...every(30, 5, { pod: reborn }),
        ...every(4, 1, { process: "missing", pod: reborn }),
      ],
      expected: "data",
    },
  ]),
  {
    title: "one that ran a log in an emergency",
    looks: [...every(30, 20), { ageMinutes: 19, process: shows("log") }, ...every(18, 5), ...dead],
    expected: "logs",
  },
  {
    title: "one whose roles a status did not tell",
    looks: [
      ...every(30, 20),
      { ageMinutes: 19, process: { roles: undefined } as never },
      ...every(18, 5),
      ...dead,
    ],
    expected: "data",
  },
  {
    title: "one that somebody gave the class of storage",
    looks: [
      ...every(30, 20),
      { ageMinutes: 19, process: { class_type: "storage" } },
      ...every(18, 5),
      ...dead,
    ],
    expected: "data",
  },
  {
    title: "one of a class that nobody knows",
    looks: [...every(30, 5, { process: { class_type: "blob_worker" } }), ...dead],
    expected: "data",
  },
  {
    title: "statuses that did not tell everything settle nothing",
    looks: [...every(30, 5, { isIncomplete: true }), ...dead],
    expected: "data",
  },
  {
    title: "no status for three minutes before its death",
    looks: [...every(30, 7), ...dead],
    expected: "data",
  },
  {
    title: "no status for three minutes long before its death",
    looks: [...every(40, 25), ...every(20, 5), ...dead],
    expected: "nothing",
  },
  {
    title: "no status for three minutes nine minutes before its death",
    looks: [...every(40, 17), ...every(13, 5), ...dead],
    expected: "data",
  },
  {
    title: "another pod that has not started",
    looks: [
      ...watched,
      ...every(4, 1, { process: "missing", pod: { uid: "uid-2", phase: "Pending" } }),
    ],
    expected: "nothing",
  },
  {
    title: "another pod that runs and does not report",
    looks: [...watched, ...every(4, 1, { process: "missing", pod: reborn })],
    expected: "data",
  },
  {
    title: "another pod that ran and is gone",
    looks: [
      ...watched,
      ...every(4, 3, { process: "missing", pod: reborn }),
      ...every(2, 1, { process: "missing", pod: "missing" }),
    ],
    expected: "data",
  },
  {
    title: "no pod any more",
    looks: [...watched, ...every(4, 1, { process: "missing", pod: "missing" })],
    expected: "nothing",
  },
  {
    title: "a process of an earlier pod that lingers says nothing about the pod",
    looks: [...every(30, 5, { process: { address: "10.0.2.77:4501" } }), ...dead],
    expected: "data",
  },
  {
    title: "storage, also while it has no role",
    id: "storage-1",
    looks: [...every(30, 5, { process: shows() }), ...dead],
    expected: "data",
  },
  {
    title: "a log that was nothing but a log",
    id: "log-1",
    looks: [...every(30, 5, { process: shows("log") }), ...dead],
    expected: "logs",
  },
  {
    title: "a log that was idle",
    id: "log-1",
    looks: [...every(30, 5, { process: shows() }), ...dead],
    expected: "logs",
  },
  {
    title: "a log that lent its disk to storage",
    id: "log-1",
    looks: [...every(30, 5, { process: shows("log", "storage") }), ...dead],
    expected: "data",
  },
  {
    title: "a log that was a coordinator",
    id: "log-1",
    looks: [
      ...every(30, 20, { process: shows("log", "coordinator") }),
      ...every(19, 5, { process: shows("log") }),
      ...dead,
    ],
    expected: "data",
  },
];

/** The database at the end, and what is known of it. */
function live({ id = "stateless-1", looks }: Life): { sample: Sample; histories: RoleHistories } {
  let histories: RoleHistories = new Map();
  let sample = sampleDatabase();
  for (const look of looks) {
    sample = sampleAt(id, look);
    const observedMs = sampleNowMs - look.ageMinutes * minuteMs;
    const seen = { status: sample.status, observedMs, isComplete: look.isIncomplete !== true };
    histories = noteRoles(histories, seen, viewOf(sample));
  }
  return { sample, histories };
}

function sampleAt(id: string, { process = {}, pod }: Look): Sample {
  const sample = sampleDatabase();
  sampleProcess(sample, id).roles = [];
  if (process === "missing") killSample(sample, id);
  else Object.assign(sampleProcess(sample, id), process);
  const name = `sample-${id}`;
  const present = sample.pods.get(name);
  if (pod === "missing") sample.pods.delete(name);
  else if (pod !== undefined && present !== undefined) {
    const metadata = { ...present.metadata, uid: pod.uid };
    sample.pods.set(name, {
      ...present,
      metadata,
      status: { ...present.status, phase: pod.phase },
    });
  }
  return sample;
}

for (const life of lives) {
  test(`[S68] ${life.title}: ${life.expected}`, () => {
    const { sample, histories } = live(life);
    const group = sampleGroup(sample, life.id ?? "stateless-1");
    assert.equal(holdingOf(viewOf(sample, { histories }), group), life.expected);
  });
}

test("[S68] a clock that is set back makes no unbroken watch", () => {
  const back = [...every(30, 20), ...every(90, 65), ...every(64, 61, { process: "missing" })];
  const life: Life = { title: "", looks: back, expected: "nothing" };
  const { sample, histories } = live({ ...life, looks: back.slice(0, 12) });
  assert.equal(
    holdingOf(viewOf(sample, { histories }), sampleGroup(sample, "stateless-1")),
    "data",
  );
});

/** Dead and excluded, as the database has confirmed; what else is missing in the proof. */
function problemAtDeath(life: Life, trouble: (sample: Sample) => void): string | undefined {
  const { sample, histories } = live(life);
  const { id = "stateless-1" } = life;
  killSample(sample, id);
  const locality = `locality_instance_id:${id}`;
  excludeSample(sample, { locality });
  sample.status.client!.coordinators!.coordinators = [];
  sample.status.cluster!.connection_string = "sample:abc@10.9.9.9:4501";
  trouble(sample);
  const entry = { targets: [locality], completedMs: sampleNowMs - 10_000 };
  const knowledge = { verified: new Map([[id, entry]]) };
  return removalProblem(viewOf(sample, { histories, knowledge }), sampleGroup(sample, id));
}

const troubles: Readonly<Record<string, (sample: Sample) => void>> = {
  none: () => {},
  "copies are missing": ({ status }) => {
    status.cluster!.data!.team_trackers![0]!.state!.min_replicas_remaining = 1;
  },
  "a log is missing": ({ status }) => {
    status.cluster!.logs![0]!.log_fault_tolerance = 0;
  },
  "old logs are needed": ({ status }) => {
    status.cluster!.recovery_state!.name = "all_logs_recruited";
  },
};

const needs: readonly [Holding, Life, string[]][] = [
  ["nothing", { title: "", looks: [...watched, ...dead], expected: "nothing" }, []],
  [
    "logs",
    {
      title: "",
      id: "log-1",
      looks: [...every(30, 5, { process: shows("log") }), ...dead],
      expected: "logs",
    },
    ["a log is missing", "old logs are needed"],
  ],
  [
    "data",
    { title: "", looks: dead, expected: "data" },
    ["copies are missing", "a log is missing", "old logs are needed"],
  ],
];

for (const [holding, life, expected] of needs) {
  test(`[S69] what a dead process group that held ${holding} waits for`, () => {
    const found = Object.keys(troubles).filter(
      (name) => problemAtDeath(life, troubles[name]!) !== undefined,
    );
    assert.deepEqual(found, expected);
  });
}
