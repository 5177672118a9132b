// Watches: events from a resource version on, bookmarks, and the end of history.
import assert from "node:assert/strict";
import { isKubeError } from "../../src/kube/error.ts";
import { capability } from "./case.ts";
import { configMap } from "./samples.ts";
import { asList, at, itemsOf, pick, tableType, text } from "./target.ts";
import type { Json, Target } from "./target.ts";
import { installWidgets } from "./widget.ts";
import type { WatchEvent } from "../../src/kube/transport.ts";

function summary(events: readonly WatchEvent[]): string[] {
  return events.map((event) => `${event.type} ${String(at(event.object, "metadata.name"))}`);
}

async function versionNow(target: Target): Promise<string> {
  return text(await target.get(target.path("configmaps")), "metadata.resourceVersion");
}

export const watchCases = capability("watch", [
  [
    "[KC9] a watch from a list's version shows what happened after it, in order",
    async (target) => {
      const path = target.path("configmaps");
      await target.create(path, configMap("before"));
      const resourceVersion = await versionNow(target);
      await target.create(path, configMap("a"));
      await target.patch("merge", target.path("configmaps", "a"), { data: { a: "2" } });
      await target.delete(target.path("configmaps", "a"));
      const watching = target.watch(path, { resourceVersion });
      await watching.until(3);
      await target.create(path, configMap("b"));
      const events = await watching.until(4);
      await watching.stop();
      assert.deepEqual(summary(events), ["ADDED a", "MODIFIED a", "DELETED a", "ADDED b"]);
      const versions = events.map((event) =>
        Number(text(event.object, "metadata.resourceVersion")),
      );
      assert.deepEqual(
        versions,
        versions.toSorted((left, right) => left - right),
      );
      assert.equal(new Set(versions).size, 4);
    },
  ],
  [
    "[KC9] without a version a watch starts with what exists",
    async (target) => {
      const path = target.path("configmaps");
      await target.create(path, configMap("a"));
      await target.create(path, configMap("b"));
      const watching = target.watch(path);
      const events = await watching.until(2);
      await watching.stop();
      assert.deepEqual(summary(events).toSorted(), ["ADDED a", "ADDED b"]);
    },
  ],
  [
    "[KC9] the event of a deletion carries the last state and a newer version",
    async (target) => {
      const path = target.path("configmaps");
      const made = await target.create(path, configMap("a"));
      const watching = target.watch(path, {
        resourceVersion: text(made, "metadata.resourceVersion"),
      });
      await target.delete(target.path("configmaps", "a"));
      const [event] = await watching.until(1);
      await watching.stop();
      assert.equal(event?.type, "DELETED");
      assert.deepEqual(at(event?.object, "data"), { a: "1" });
      assert.ok(
        Number(text(event?.object, "metadata.resourceVersion")) >
          Number(text(made, "metadata.resourceVersion")),
      );
    },
  ],
  [
    "[KC9] an object that starts or stops matching the selector is added or deleted",
    async (target) => {
      const path = target.path("configmaps");
      const resourceVersion = await versionNow(target);
      const watching = target.watch(path, { resourceVersion, labelSelector: "on=yes" });
      await target.create(path, configMap("a"));
      const label = (on: string): Promise<Json> =>
        target.patch("merge", target.path("configmaps", "a"), { metadata: { labels: { on } } });
      await label("yes");
      await target.patch("merge", target.path("configmaps", "a"), { data: { x: "y" } });
      await label("no");
      await label("yes");
      const events = await watching.until(4);
      await watching.stop();
      assert.deepEqual(summary(events), ["ADDED a", "MODIFIED a", "DELETED a", "ADDED a"]);
      // The object that left is shown as it was when it still matched.
      assert.equal(at(events[2]?.object, "metadata.labels.on"), "yes");
    },
  ],
  [
    "[KC9] one object is watched by a field selector on its name",
    async (target) => {
      const path = target.path("configmaps");
      const resourceVersion = await versionNow(target);
      const watching = target.watch(path, { resourceVersion, fieldSelector: "metadata.name=b" });
      await target.create(path, configMap("a"));
      await target.create(path, configMap("b"));
      const events = await watching.until(1);
      await watching.stop();
      assert.deepEqual(summary(events), ["ADDED b"]);
    },
  ],
  [
    "[KC9] a watch over all namespaces sees this one",
    async (target) => {
      const resourceVersion = await versionNow(target);
      const labels = { set: target.namespace };
      const watching = target.watch("/api/v1/configmaps", {
        resourceVersion,
        labelSelector: `set=${target.namespace}`,
      });
      await target.create(target.path("configmaps"), configMap("a", {}, { labels }));
      const events = await watching.until(1);
      await watching.stop();
      assert.equal(at(events[0]?.object, "metadata.namespace"), target.namespace);
    },
  ],
  [
    "[KC9] a write that changes nothing makes no event",
    async (target) => {
      const path = target.path("configmaps");
      const made = await target.create(path, configMap("a"));
      const watching = target.watch(path, {
        resourceVersion: text(made, "metadata.resourceVersion"),
      });
      await target.replace(target.path("configmaps", "a"), made);
      await target.create(path, configMap("b"));
      const events = await watching.until(1);
      await watching.stop();
      assert.deepEqual(summary(events), ["ADDED b"]);
    },
  ],
  [
    "[KC9] a watch ends by itself after its time limit",
    async (target) => {
      const resourceVersion = await versionNow(target);
      const watching = target.watch(target.path("configmaps"), {
        resourceVersion,
        timeoutSeconds: "1",
      });
      assert.equal(await watching.failure(), undefined);
    },
  ],
  [
    "[KC9] a watch from version zero starts with what exists",
    async (target) => {
      const path = target.path("configmaps");
      await target.create(path, configMap("a"));
      const watching = target.watch(path, { resourceVersion: "0" });
      await watching.until(1);
      await target.create(path, configMap("b"));
      assert.deepEqual(summary(await watching.until(2)), ["ADDED a", "ADDED b"]);
      await watching.stop();
    },
  ],
  [
    "[KC9] a watch can be had as tables, the first with its columns",
    async (target) => {
      const path = target.path("configmaps");
      await target.create(path, configMap("a"));
      const watching = target.watch(path, {}, tableType);
      await watching.until(1);
      await target.create(path, configMap("b"));
      const events = await watching.until(2);
      await watching.stop();
      const rows = events.map((event) => ({
        kind: at(event.object, "kind"),
        columns: asList(at(event.object, "columnDefinitions")).length,
        name: at(event.object, "rows.0.cells.0"),
      }));
      assert.deepEqual(rows, [
        { kind: "Table", columns: 3, name: "a" },
        { kind: "Table", columns: 0, name: "b" },
      ]);
    },
  ],
  [
    "[KC9] several watches see the same changes",
    async (target) => {
      const path = target.path("configmaps");
      const resourceVersion = await versionNow(target);
      const watches = [1, 2].map(() => target.watch(path, { resourceVersion }));
      await target.create(path, configMap("a"));
      await target.delete(target.path("configmaps", "a"));
      for (const watching of watches) {
        assert.deepEqual(summary(await watching.until(2)), ["ADDED a", "DELETED a"]);
        await watching.stop();
      }
    },
  ],
]);

async function initialEvents(target: Target, query: Record<string, string>): Promise<WatchEvent[]> {
  const path = target.path("configmaps");
  for (const name of ["a", "b"]) await target.create(path, configMap(name));
  const watching = target.watch(path, {
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: "true",
    ...query,
  });
  const events = await watching.until(3);
  await watching.stop();
  return events;
}

export const bookmarkCases = capability("bookmarks", [
  [
    "[KC10] the initial events of a watch end with a marked bookmark",
    async (target) => {
      const events = await initialEvents(target, {});
      assert.deepEqual(summary(events.slice(0, 2)).toSorted(), ["ADDED a", "ADDED b"]);
      const bookmark = events[2];
      assert.equal(bookmark?.type, "BOOKMARK");
      assert.deepEqual(at(bookmark?.object, "metadata.annotations"), {
        "k8s.io/initial-events-end": "true",
      });
    },
  ],
  [
    "[KC10] a bookmark carries kind and version and nothing else",
    async (target) => {
      const events = await initialEvents(target, {});
      const bookmark = events[2]?.object;
      assert.deepEqual(
        pick(bookmark, "kind", "apiVersion", "data", "metadata.name", "metadata.uid"),
        {
          kind: "ConfigMap",
          apiVersion: "v1",
          data: undefined,
          "metadata.name": undefined,
          "metadata.uid": undefined,
        },
      );
      const versions = events.map((event) =>
        Number(text(event.object, "metadata.resourceVersion")),
      );
      assert.ok((versions[2] ?? 0) >= Math.max(versions[0] ?? 0, versions[1] ?? 0));
    },
  ],
  [
    "[KC10] a watch goes on from a bookmark's version",
    async (target) => {
      const events = await initialEvents(target, {});
      const resourceVersion = text(events[2]?.object, "metadata.resourceVersion");
      const watching = target.watch(target.path("configmaps"), { resourceVersion });
      await target.create(target.path("configmaps"), configMap("c"));
      assert.deepEqual(summary(await watching.until(1)), ["ADDED c"]);
      await watching.stop();
    },
  ],
  [
    "[KC10] a watch that asks for bookmarks gets one before its time limit ends it",
    async (target) => {
      // A real server sends it two seconds before the limit, and none when it is late by more than that.
      let kinds: string[] = [];
      for (let tries = 0; tries < 5 && kinds.length === 0; tries += 1) {
        const resourceVersion = await versionNow(target);
        const watching = target.watch(target.path("configmaps"), {
          resourceVersion,
          allowWatchBookmarks: "true",
          timeoutSeconds: "3",
        });
        assert.equal(await watching.failure(), undefined);
        kinds = [...new Set(watching.events.map((event) => event.type))];
      }
      assert.deepEqual(kinds, ["BOOKMARK"]);
    },
  ],
  [
    "[KC10] initial events need their version match",
    async (target) => {
      const watching = target.watch(target.path("configmaps"), {
        sendInitialEvents: "true",
        allowWatchBookmarks: "true",
      });
      const failure = await watching.failure();
      assert.ok(isKubeError(failure, "Invalid"), String(failure));
      assert.equal(failure.status, 422);
    },
  ],
]);

// The history of a kind that a case defines for itself starts long after version 1, on every server.
export const compactionCases = capability("410 after compaction", [
  [
    "[KC11] a watch from a forgotten version is told that it is gone",
    async (target) => {
      const kind = await installWidgets(target);
      await target.create(kind.path, kind.widget("a"));
      await target.compact();
      const watching = target.watch(kind.path, { resourceVersion: "1" });
      const failure = await watching.failure();
      assert.equal(failure, undefined);
      assert.equal(watching.events.length, 1);
      const event = watching.events[0];
      assert.equal(event?.type, "ERROR");
      assert.deepEqual(pick(event?.object, "kind", "code", "reason", "status"), {
        kind: "Status",
        code: 410,
        reason: "Expired",
        status: "Failure",
      });
      assert.match(text(event?.object, "message"), /^too old resource version: 1 \(\d+\)$/);
    },
  ],
  [
    "[KC11] a list at a forgotten version is gone",
    async (target) => {
      const kind = await installWidgets(target);
      await target.create(kind.path, kind.widget("a"));
      await target.compact();
      await target.refused(
        {
          status: 410,
          reason: "Expired",
          message: "The resourceVersion for the provided list is too old.",
        },
        "GET",
        kind.path,
        undefined,
        { query: { resourceVersion: "1", resourceVersionMatch: "Exact" } },
      );
    },
  ],
  [
    "[KC11] a list and a new watch work after compaction",
    async (target) => {
      const kind = await installWidgets(target);
      await target.create(kind.path, kind.widget("a"));
      await target.compact();
      const list = await target.get(kind.path);
      assert.equal(itemsOf(list).length, 1);
      const watching = target.watch(kind.path, {
        resourceVersion: text(list, "metadata.resourceVersion"),
      });
      await target.create(kind.path, kind.widget("b"));
      assert.deepEqual(summary(await watching.until(1)), ["ADDED b"]);
      await watching.stop();
    },
  ],
  [
    "[KC11] a watch that is open during compaction goes on",
    async (target) => {
      const kind = await installWidgets(target);
      const list = await target.get(kind.path);
      const watching = target.watch(kind.path, {
        resourceVersion: text(list, "metadata.resourceVersion"),
      });
      await target.create(kind.path, kind.widget("a"));
      await watching.until(1);
      await target.compact();
      await target.create(kind.path, kind.widget("b"));
      assert.deepEqual(summary(await watching.until(2)), ["ADDED a", "ADDED b"]);
      await watching.stop();
    },
  ],
  [
    "[KC11] a version from the future is refused for a list",
    async (target) => {
      await target.refused(
        { status: 504, reason: "Timeout", message: /Too large resource version: 999999999/ },
        "GET",
        target.path("configmaps"),
        undefined,
        { query: { resourceVersion: "999999999", resourceVersionMatch: "NotOlderThan" } },
      );
    },
  ],
]);
