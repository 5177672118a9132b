// What is remembered of the statuses of a database, and of the processes of other instances in it.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sampleDatabase, sampleNowMs, sampleProcess, viewOf } from "../plan/safety/sample-view.ts";
import type { Sample } from "../plan/safety/sample-view.ts";
import { StatusMemory } from "./status-memory.ts";

function note(memory: StatusMemory, sample: Sample, ageMs: number): void {
  const status = structuredClone(sample.status);
  memory.note({ kind: "seen", status, observedMs: sampleNowMs - ageMs }, viewOf(sample));
}

test("[S47] the last two complete statuses are kept, each once", () => {
  const memory = new StatusMemory();
  const sample = sampleDatabase();
  for (const ageMs of [5_000, 4_000, 4_000, 3_000]) note(memory, sample, ageMs);
  sample.status.cluster?.messages?.push({ name: "status_incomplete" });
  note(memory, sample, 2_000);
  const ages = memory.statuses.map(({ observedMs }) => sampleNowMs - observedMs);
  assert.deepEqual(ages, [3_000, 4_000]);
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

test("[S35] a process of another instance that is gone is a loss for ten minutes", () => {
  const memory = new StatusMemory();
  const sample = withForeign();
  note(memory, sample, 5_000);
  assert.equal(memory.lostZones(sampleNowMs).size, 0);
  delete sample.status.cluster?.processes?.["foreign"];
  note(memory, sample, 4_000);
  assert.deepEqual([...memory.lostZones(sampleNowMs)], [["far", "dc2-storage-1 does not report"]]);
  assert.equal(memory.lostZones(sampleNowMs + 600_000).size, 0);
});

test("[S48] a process of another instance that was excluded before it went is no loss", () => {
  const memory = new StatusMemory();
  const sample = withForeign();
  note(memory, sample, 5_000);
  sampleProcess(sample, "foreign").excluded = true;
  note(memory, sample, 4_000);
  delete sample.status.cluster?.processes?.["foreign"];
  note(memory, sample, 3_000);
  assert.equal(memory.lostZones(sampleNowMs).size, 0);
});

test("[S35] our own processes are judged by their pods instead", () => {
  const memory = new StatusMemory();
  const sample = sampleDatabase();
  note(memory, sample, 5_000);
  delete sample.status.cluster?.processes?.["storage-1"];
  note(memory, sample, 4_000);
  assert.equal(memory.lostZones(sampleNowMs).size, 0);
});
