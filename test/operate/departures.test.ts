// The scene of the benchmark in which a large part of a cluster leaves at once: it has to stay one in which all of them may go.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { DepartureScene } from "../../bench/departures.ts";

for (const isGlobal of [false, true]) {
  test(`[S82] many that have a certificate go in one act${isGlobal ? ", in global mode as well" : ""}`, () => {
    const scene = new DepartureScene({ groups: 320, leaving: 8, isGlobal });
    const action = scene.guard(scene.plan());
    assert.equal(action.type === "removeProcessGroups" && action.groups.length, 8);
  });
}
