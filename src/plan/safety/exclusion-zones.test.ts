// Of those that are to go, whom a mode over halls cannot do without, as a table. Proves [HALL20] of spec/halls.md and
// [R38] of spec/removal.md; modes without halls are in test/operate/removal-exclude.test.ts.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { zoneProblems } from "./exclusion-zones.ts";

type Entry = readonly [string, StatusProcess];

/** Each named "hall/zone", those that go and those that stay. */
function statusOf(
  mode: string,
  processClass: string,
  { old, now }: { old: readonly string[]; now: readonly string[] },
): { status: DatabaseStatus; leaving: ReadonlySet<string> } {
  const key = mode.startsWith("three_datacenter") ? "dcid" : "data_hall";
  const processOf = (place: string, id: string): Entry => {
    const [hall = "", zoneid = ""] = place.split("/");
    const locality = { instance_id: id, zoneid: `${hall}-${zoneid}`, [key]: hall };
    return [id, { class_type: processClass, locality }];
  };
  const oldOnes = old.map((place, index) => processOf(place, `old-${index + 1}`));
  const newOnes = now.map((place, index) => processOf(place, `new-${index + 1}`));
  const processes = Object.fromEntries([...oldOnes, ...newOnes]);
  return {
    status: { cluster: { configuration: { redundancy_mode: mode }, processes } },
    leaving: new Set(oldOnes.map(([id]) => id)),
  };
}

/** All that go are "old-1" and so on, in the order of their places. */
const rows: readonly {
  title: string;
  mode?: string;
  processClass?: string;
  old: readonly string[];
  now: readonly string[];
  needed: readonly string[];
}[] = [
  {
    title:
      "logs that stay share a zone in two of three halls: one of another zone is kept, in one hall",
    old: ["a/2", "a/3", "b/1", "b/2", "b/3", "c/2", "c/3"],
    now: ["a/1", "a/4", "b/1", "b/1", "c/1", "c/1"],
    needed: ["old-4"],
  },
  {
    title: "logs share a zone in every hall: one is kept in each of two halls",
    old: ["a/1", "a/2", "b/2", "b/3", "c/2"],
    now: ["a/1", "a/1", "b/1", "b/1", "c/1", "c/1"],
    needed: ["old-2", "old-3"],
  },
  {
    title: "a hall in which no old log has a zone of its own is left to another one",
    old: ["b/1", "b/1", "c/2", "c/3"],
    now: ["a/1", "a/2", "b/1", "b/1", "c/1"],
    needed: ["old-3"],
  },
  {
    title: "all, when nothing helps",
    old: ["b/1", "c/1"],
    now: ["a/1", "a/2", "b/1", "c/1"],
    needed: ["old-1", "old-2"],
  },
  {
    title: "logs in enough zones of two halls need nobody",
    old: ["b/1", "c/1", "c/2"],
    now: ["a/1", "a/2", "b/2", "b/3"],
    needed: [],
  },
  {
    title:
      "a hall that is being emptied keeps all its storage servers: one does not carry the hall's data",
    processClass: "storage",
    old: ["c/1", "c/2", "c/3"],
    now: ["a/1", "a/2", "b/1", "b/2"],
    needed: ["old-1", "old-2", "old-3"],
  },
  {
    title: "logs of a hall that is being emptied all wait",
    old: ["b/1", "b/2", "c/1", "c/2"],
    now: ["a/1", "a/2"],
    needed: ["old-1", "old-2", "old-3", "old-4"],
  },
  {
    title: "storage servers share a zone in one datacenter of three",
    mode: "three_datacenter",
    processClass: "storage",
    old: ["a/1", "c/1", "c/2", "c/3"],
    now: ["a/1", "a/2", "b/1", "b/2", "c/1", "c/1"],
    needed: ["old-3"],
  },
  {
    title:
      "logs of three_datacenter keep the zones that their halls lack, and as many more as the mode needs",
    mode: "three_datacenter",
    old: ["b/1", "b/2", "c/2"],
    now: ["a/1", "a/2", "b/1", "c/1"],
    needed: ["old-2", "old-3"],
  },
  {
    title: "logs in a fallback mode",
    mode: "three_data_hall_fallback",
    old: ["b/2", "b/3"],
    now: ["a/1", "a/2", "b/1", "b/1"],
    needed: ["old-1"],
  },
];

for (const { title, mode = "three_data_hall", processClass = "log", old, now, needed } of rows) {
  test(`[HALL20] [R38] who is kept over halls: ${title}`, () => {
    const { status, leaving } = statusOf(mode, processClass, { old, now });
    const [problem, ...others] = zoneProblems(status, leaving, mode);
    assert.deepEqual([...(problem?.needed ?? [])].sort(), needed, problem?.text);
    assert.equal(others.length, 0);
    if (problem === undefined || needed.length === old.length) return;
    const rest = new Set([...leaving].filter((id) => !problem.needed.has(id)));
    assert.deepEqual(zoneProblems(status, rest, mode), [], "the others may go");
  });
}
