// Lists in pieces: limit and continue.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap } from "./samples.ts";
import { at, itemsOf, text } from "./target.ts";
import type { Json, Target } from "./target.ts";

async function fiveMaps(target: Target): Promise<string> {
  for (const name of ["e", "b", "d", "a", "c"]) {
    await target.create(target.path("configmaps"), configMap(name, {}, { labels: { name } }));
  }
  return target.path("configmaps");
}

function namesOf(list: Json): unknown[] {
  return itemsOf(list).map((item) => at(item, "metadata.name"));
}

export const pagingCases = capability("limit and continue", [
  [
    "[KC8] pages come in the order of names and say how much is left",
    async (target) => {
      const path = await fiveMaps(target);
      const first = await target.get(path, { limit: "2" });
      assert.deepEqual(namesOf(first), ["a", "b"]);
      assert.equal(at(first, "metadata.remainingItemCount"), 3);
      const second = await target.get(path, {
        limit: "2",
        continue: text(first, "metadata.continue"),
      });
      assert.deepEqual(namesOf(second), ["c", "d"]);
      assert.equal(at(second, "metadata.remainingItemCount"), 1);
      const last = await target.get(path, {
        limit: "2",
        continue: text(second, "metadata.continue"),
      });
      assert.deepEqual(namesOf(last), ["e"]);
      assert.equal(at(last, "metadata.continue"), undefined);
    },
  ],
  [
    "[KC8] all pages show the moment of the first one",
    async (target) => {
      const path = await fiveMaps(target);
      const first = await target.get(path, { limit: "2" });
      await target.create(path, configMap("cc"));
      await target.delete(target.path("configmaps", "d"));
      const rest = await target.get(path, { continue: text(first, "metadata.continue") });
      assert.deepEqual(namesOf(rest), ["c", "d", "e"]);
      assert.equal(at(rest, "metadata.resourceVersion"), at(first, "metadata.resourceVersion"));
    },
  ],
  [
    "[KC8] a limit that is not reached gives everything without a token",
    async (target) => {
      const path = await fiveMaps(target);
      const list = await target.get(path, { limit: "5" });
      assert.equal(itemsOf(list).length, 5);
      assert.equal(at(list, "metadata.continue"), undefined);
      assert.equal(at(list, "metadata.remainingItemCount"), undefined);
    },
  ],
  [
    "[KC8] with a selector the rest is not counted",
    async (target) => {
      const path = await fiveMaps(target);
      const list = await target.get(path, { limit: "1", labelSelector: "name in (c,e)" });
      assert.deepEqual(namesOf(list), ["c"]);
      assert.equal(at(list, "metadata.remainingItemCount"), undefined);
      const rest = await target.get(path, {
        limit: "1",
        labelSelector: "name in (c,e)",
        continue: text(list, "metadata.continue"),
      });
      assert.deepEqual(namesOf(rest), ["e"]);
      assert.equal(at(rest, "metadata.continue"), undefined);
    },
  ],
  [
    "[KC8] a token that the server never gave is a bad request",
    async (target) => {
      const path = await fiveMaps(target);
      await target.refused(
        { status: 400, reason: "BadRequest", message: /continue key is not valid/ },
        "GET",
        path,
        undefined,
        { query: { limit: "1", continue: "nonsense" } },
      );
    },
  ],
  [
    "[KC8] pages of a selector by field",
    async (target) => {
      const path = await fiveMaps(target);
      const list = await target.get(path, { limit: "2", fieldSelector: "metadata.name!=a" });
      assert.deepEqual(namesOf(list), ["b", "c"]);
    },
  ],
  [
    "[KC8] a list from any version has everything that was written before",
    async (target) => {
      const path = await fiveMaps(target);
      const before = await target.get(path);
      const list = await target.get(path, {
        resourceVersion: text(before, "metadata.resourceVersion"),
        resourceVersionMatch: "NotOlderThan",
      });
      assert.equal(itemsOf(list).length, 5);
    },
  ],
]);
