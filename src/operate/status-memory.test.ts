// What is remembered of the statuses of a database, and of the processes of other instances in it.
import { ClockSteps } from "../env/clock.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  killSample,
  sampleDatabase,
  sampleNowMs,
  sampleProcess,
  viewOf,
} from "../../test/fixtures/sample-view.ts";
import type { Sample } from "../../test/fixtures/sample-view.ts";
import type { Neighbours } from "./neighbours.ts";
import { StatusMemory } from "./status-memory.ts";

function note(
  memory: StatusMemory,
  sample: Sample,
  ageMs: number,
  neighbours?: Neighbours,
): boolean {
  const status = structuredClone(sample.status);
  const latest = { kind: "seen" as const, status, observedMs: sampleNowMs - ageMs };
  return memory.note(latest, viewOf(sample), neighbours && (() => neighbours));
}

test("[S47] the last two complete statuses are kept, each once", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = sampleDatabase();
  for (const ageMs of [5_000, 4_000, 4_000, 3_000]) note(memory, sample, ageMs);
  sample.status.cluster?.messages?.push({ name: "status_incomplete" });
  note(memory, sample, 2_000);
  const ages = memory.statuses.map(({ observedMs }) => sampleNowMs - observedMs);
  assert.deepEqual(ages, [3_000, 4_000]);
});

test("[S162] the watch begins with the first complete status", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = sampleDatabase();
  sample.status.cluster?.messages?.push({ name: "status_incomplete" });
  note(memory, sample, 9_000);
  assert.equal(memory.watchedSinceMs, undefined);
  for (const ageMs of [5_000, 4_000, 3_000]) note(memory, sampleDatabase(), ageMs);
  assert.equal(memory.watchedSinceMs, sampleNowMs - 5_000);
  note(memory, sampleDatabase(), 3_600_000);
  assert.equal(memory.watchedSinceMs, sampleNowMs - 3_600_000, "the clock was set back");
});

test("[ADO24] when the database served is remembered while it is silent", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  note(memory, sampleDatabase(), 9_000);
  const silent = sampleDatabase();
  silent.status.client = { database_status: { available: false, healthy: false } };
  note(memory, silent, 5_000);
  assert.equal(memory.servedMs, sampleNowMs - 9_000);
  assert.equal(memory.heardSinceMs, sampleNowMs - 9_000);
});

test("[S163] who does not report is missing from the first complete status without it, until it reports again", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  note(memory, sampleDatabase(), 9_000);
  assert.equal(memory.missingGroups.size, 0);
  const without = sampleDatabase();
  killSample(without, "storage-1");
  for (const ageMs of [8_000, 7_000]) note(memory, without, ageMs);
  assert.deepEqual([...memory.missingGroups], [["storage-1", sampleNowMs - 8_000]]);
  note(memory, sampleDatabase(), 6_000);
  assert.equal(memory.missingGroups.size, 0);
});

test("[S167] [S170] what is remembered does not get older when the clock is set", () => {
  const steps = new ClockSteps();
  const memory = new StatusMemory({ steppedMs: (sinceMs) => steps.sinceMs(sinceMs) }, 120_000);
  const before = withForeign();
  note(memory, before, 9_000);
  const without = sampleDatabase();
  killSample(without, "storage-1");
  const neighbours = new Map([["dc3-log-1", "further"]]);
  note(memory, without, 8_000, neighbours);
  const nowMs = sampleNowMs + 3_600_000;
  steps.note(nowMs, 3_600_000);
  assert.equal(memory.watchedSinceMs, sampleNowMs + 3_591_000);
  assert.deepEqual([...memory.missingGroups], [["storage-1", sampleNowMs + 3_592_000]]);
  const lost = [...memory.lostZones(nowMs).keys()];
  assert.deepEqual(lost, ["far", "further"]);
  without.groups = without.groups.filter((group) => group.processGroupID !== "storage-1");
  note(memory, without, -3_601_000, neighbours);
  assert.ok(memory.reportedPlaces.has("storage-1"));
  assert.deepEqual([...memory.lostZones(nowMs + 590_000).keys()], ["far", "further", "zone-1"]);
  assert.equal(memory.lostZones(nowMs + 593_000).size, 0, "the time itself ends it");
});

test("[S168] after a pause the watch begins anew, and who does not report is missing anew", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const without = sampleDatabase();
  killSample(without, "storage-1");
  note(memory, without, 900_000);
  memory.lookAway();
  assert.deepEqual([memory.watchedSinceMs, memory.missingGroups.size], [undefined, 0]);
  note(memory, without, 9_000);
  assert.equal(memory.watchedSinceMs, sampleNowMs - 9_000);
  assert.deepEqual([...memory.missingGroups], [["storage-1", sampleNowMs - 9_000]]);
});

function withForeign(): Sample {
  const sample = sampleDatabase();
  const { processes } = sample.status.cluster ?? {};
  const own = sampleProcess(sample, "storage-1");
  if (processes) {
    processes["foreign"] = { ...own, locality: { instance_id: "dc2-storage-1", zoneid: "far" } };
  }
  return sample;
}

test("[S171] [ADO24] after a gap between statuses the watch begins anew", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const without = sampleDatabase();
  killSample(without, "storage-1");
  for (const ageMs of [900_000, 780_000]) assert.equal(note(memory, without, ageMs), true);
  assert.equal(memory.watchedSinceMs, sampleNowMs - 900_000);
  const silent = sampleDatabase();
  silent.status.client = { database_status: { available: false, healthy: false } };
  for (const ageMs of [700_000, 600_000]) assert.equal(note(memory, silent, ageMs), true);
  assert.equal(memory.heardSinceMs, sampleNowMs - 900_000);
  assert.equal(note(memory, without, 479_000), false);
  assert.equal(memory.watchedSinceMs, sampleNowMs - 479_000);
  assert.equal(memory.heardSinceMs, sampleNowMs - 479_000);
  assert.deepEqual([...memory.missingGroups], [["storage-1", sampleNowMs - 479_000]]);
});

test("[S35] a process of another instance that is gone is a loss for ten minutes", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = withForeign();
  note(memory, sample, 5_000);
  assert.equal(memory.lostZones(sampleNowMs).size, 0);
  delete sample.status.cluster?.processes?.["foreign"];
  note(memory, sample, 4_000);
  assert.deepEqual([...memory.lostZones(sampleNowMs)], [["far", "dc2-storage-1 does not report"]]);
  assert.equal(memory.lostZones(sampleNowMs + 600_000).size, 0);
});

test("[S35] what went while nobody looked is a loss for ten minutes from the first look on", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = withForeign();
  note(memory, sample, 3_600_000);
  delete sample.status.cluster?.processes?.["foreign"];
  note(memory, sample, 300_000);
  assert.equal(memory.lostZones(sampleNowMs).size, 1);
  assert.equal(memory.lostZones(sampleNowMs + 300_001).size, 0);
  note(memory, sample, 60_000);
  assert.equal(memory.lostZones(sampleNowMs + 300_000).size, 1, "later looks make it no longer");
  const back = withForeign();
  note(memory, back, 30_000);
  assert.equal(memory.lostZones(sampleNowMs).size, 0, "it is back");
});

test("[S48] a process of another instance that was excluded before it went is no loss", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = withForeign();
  note(memory, sample, 5_000);
  sampleProcess(sample, "foreign").excluded = true;
  note(memory, sample, 4_000);
  delete sample.status.cluster?.processes?.["foreign"];
  note(memory, sample, 3_000);
  assert.equal(memory.lostZones(sampleNowMs).size, 0);
});

const neighbours: Neighbours = new Map([["dc2-storage-1", "far"]]);

test("[S164] what another resource says reported is a loss for ten minutes from the first status without it", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = sampleDatabase();
  note(memory, sample, 500_000, neighbours);
  const lost = [["far", "dc2-storage-1 does not report"]];
  assert.deepEqual([...memory.lostZones(sampleNowMs)], lost);
  note(memory, sample, 60_000, neighbours);
  assert.deepEqual([...memory.lostZones(sampleNowMs + 100_000)], lost);
  assert.equal(memory.lostZones(sampleNowMs + 100_001).size, 0, "later looks make it no longer");
  note(memory, withForeign(), 30_000, neighbours);
  assert.equal(memory.lostZones(sampleNowMs).size, 0, "it is back");
});

test("[S164] what has left the other resource, or is ours, is no loss", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = sampleDatabase();
  note(memory, sample, 5_000, neighbours);
  note(memory, sample, 4_000, new Map());
  assert.equal(memory.lostZones(sampleNowMs).size, 0);
  delete sample.status.cluster?.processes?.["storage-1"];
  note(memory, sample, 3_000, new Map([["storage-1", "zone-1"]]));
  assert.equal(memory.lostZones(sampleNowMs).size, 0);
});

test("[S48] [S164] what statuses have shown is judged by them, also where another resource still names it", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = withForeign();
  sampleProcess(sample, "foreign").excluded = true;
  note(memory, sample, 5_000, neighbours);
  delete sample.status.cluster?.processes?.["foreign"];
  note(memory, sample, 4_000, neighbours);
  assert.equal(memory.lostZones(sampleNowMs).size, 0);
});

test("[S35] our own processes are judged by their pods instead", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = sampleDatabase();
  note(memory, sample, 5_000);
  delete sample.status.cluster?.processes?.["storage-1"];
  note(memory, sample, 4_000);
  assert.equal(memory.lostZones(sampleNowMs).size, 0);
});

test("[T11] each coordinator is missing since the first status in a row that shows it", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = sampleDatabase();
  const view = viewOf(sample);
  const connectionString = sample.status.cluster?.connection_string;
  const cluster = { ...view.cluster, status: { ...view.cluster.status, connectionString } };
  const seen = (ageMs: number, unreachable: readonly string[], available = true) => {
    const status = structuredClone(sample.status);
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      process.command_line = `fdbserver --public_address=${process.address ?? ""}`;
    }
    for (const each of status.client?.coordinators?.coordinators ?? []) {
      each.reachable = !unreachable.includes(each.address ?? "");
    }
    if (status.client?.database_status) status.client.database_status.available = available;
    memory.note({ kind: "seen", status, observedMs: sampleNowMs - ageMs }, { ...view, cluster });
    return [...memory.missingCoordinators].map(([each, atMs]) => [each, sampleNowMs - atMs]);
  };
  const [one = "", two = "", three = ""] = connectionString?.split("@")[1]?.split(",") ?? [];
  assert.deepEqual(seen(90_000, []), []);
  assert.deepEqual(seen(80_000, [one]), [[one, 80_000]]);
  assert.deepEqual(seen(70_000, [one, two, three], false), [[one, 80_000]], "it does not serve");
  const both = [
    [one, 80_000],
    [two, 60_000],
  ];
  assert.deepEqual(seen(60_000, [one, two]), both);
  assert.deepEqual(seen(50_000, [two]), [[two, 60_000]]);
  assert.deepEqual(seen(40_000, [one, two]), [
    [one, 40_000],
    [two, 60_000],
  ]);
});

test("[S165] where process groups reported is remembered for ten minutes after the status has lost them", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = sampleDatabase();
  note(memory, sample, 2_000_000);
  assert.equal(memory.reportedPlaces.get("storage-1")?.faultDomain, "zone-1");
  sample.groups.splice(0);
  note(memory, sample, 1_400_000);
  assert.equal(memory.reportedPlaces.get("storage-1")?.faultDomain, "zone-1");
  note(memory, sample, 1_399_000);
  assert.equal(memory.reportedPlaces.size, 0);
});

test("[S170] who is not excluded, and is not listed any more, is a loss for ten minutes, whatever the database lists", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = sampleDatabase();
  const lostAt = (ageMs: number): string[] => {
    note(memory, sample, ageMs);
    return [...memory.lostZones(sampleNowMs - ageMs).keys()];
  };
  for (const group of sample.groups) {
    if (group.processGroupID === "storage-1") group.removalTimestamp = "2026-01-01T00:00:00Z";
    if (group.processGroupID === "storage-2") group.exclusionTimestamp = "2026-01-01T00:00:00Z";
  }
  assert.deepEqual(lostAt(2_000_000), []);
  const listed = sample.groups.splice(0);
  assert.deepEqual(lostAt(1_998_000), ["zone-1", "zone-3", "zone-2"]);
  sample.groups.push(...listed.filter(({ processGroupID: id }) => !id.startsWith("storage-")));
  assert.deepEqual(lostAt(1_997_000), ["zone-1", "zone-3"]);
  sample.groups.push(...listed.filter(({ processGroupID: id }) => id === "storage-3"));
  assert.deepEqual(lostAt(1_400_000), ["zone-1"]);
  assert.deepEqual(lostAt(1_399_000), []);
});

test("[S165] nothing is remembered of who never reported, nor for a resource that was created again", () => {
  const memory = new StatusMemory(new VirtualClock(), 120_000);
  const sample = sampleDatabase();
  const [first] = sample.groups;
  delete first?.faultDomain;
  note(memory, sample, 9_000);
  assert.equal(memory.reportedPlaces.size, sample.groups.length - 1);
  sample.groups.splice(0);
  const view = viewOf(sample);
  const cluster = { ...view.cluster, metadata: { ...view.cluster.metadata, uid: "another" } };
  const latest = { kind: "seen" as const, status: sample.status, observedMs: sampleNowMs };
  memory.note(latest, { ...view, cluster });
  assert.equal(memory.reportedPlaces.size, 0);
});
