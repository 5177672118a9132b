// Watches: order, selectors, bookmarks, initial events, and what happens to a watch that is too old.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isKubeError } from "../kube/error.ts";
import { stringAt, valueAt } from "./json.ts";
import {
  configMap,
  inDefault,
  settle,
  summary,
  TestServer,
} from "../../test/fixtures/emulated-server.ts";

const maps = inDefault("configmaps");

test("[KAS20] events come in order, after the writer's own turn", async () => {
  const server = new TestServer();
  await server.ask("POST", maps, configMap("old"));
  const watched = server.watch(maps);
  await settle();
  await server.ask("POST", maps, configMap("a"));
  await server.ask("PATCH", `${maps}/a`, { data: { x: "1" } }, { patch: "merge" });
  await server.ask("DELETE", `${maps}/a`);
  await settle();
  assert.deepEqual(summary(watched.events), ["ADDED old", "ADDED a", "MODIFIED a", "DELETED a"]);
  watched.stop();
  await watched.ended;
});

test("[KAS20] a watch from a revision sees what happened since", async () => {
  const server = new TestServer();
  const made = await server.ask("POST", maps, configMap("a"));
  await server.ask("POST", maps, configMap("b"));
  const resourceVersion = stringAt(made, "metadata", "resourceVersion");
  const watched = server.watch(maps, { resourceVersion });
  await settle();
  assert.deepEqual(summary(watched.events), ["ADDED b"]);
});

test("[KAS20] an object that leaves the selection is shown as deleted", async () => {
  const server = new TestServer();
  const watched = server.watch(maps, { labelSelector: "x=1" });
  await server.ask("POST", maps, configMap("a", {}, { labels: { x: "1" } }));
  await server.ask("POST", maps, configMap("b"));
  await server.ask("PATCH", `${maps}/a`, { metadata: { labels: { x: "2" } } }, { patch: "merge" });
  await server.ask("PATCH", `${maps}/a`, { metadata: { labels: { x: "1" } } }, { patch: "merge" });
  await settle();
  assert.deepEqual(summary(watched.events), ["ADDED a", "DELETED a", "ADDED a"]);
  assert.equal(valueAt(watched.events[1]?.object, "metadata", "labels", "x"), "1");
});

test("[KAS21] a watch list ends its first events with a marked bookmark", async () => {
  const server = new TestServer();
  await server.ask("POST", maps, configMap("a"));
  const watched = server.watch(maps, {
    ...{ sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" },
    allowWatchBookmarks: "true",
  });
  await settle();
  assert.deepEqual(
    watched.events.map((event) => event.type),
    ["ADDED", "BOOKMARK"],
  );
  const annotations = valueAt(watched.events[1]?.object, "metadata", "annotations");
  assert.deepEqual(annotations, { "k8s.io/initial-events-end": "true" });
});

test("[KAS21] bookmarks carry the revision when other kinds moved on", async () => {
  const server = new TestServer();
  const watched = server.watch(maps, { allowWatchBookmarks: "true" });
  await settle();
  const made = await server.ask("POST", inDefault("secrets"), { metadata: { name: "s" } });
  await server.clock.advance(61_000);
  assert.deepEqual(
    watched.events.map((event) => event.type),
    ["BOOKMARK"],
  );
  const version = valueAt(watched.events[0]?.object, "metadata", "resourceVersion");
  assert.equal(version, stringAt(made, "metadata", "resourceVersion"));
});

test("[KAS21] a watch ends when its time is over", async () => {
  const server = new TestServer();
  const watched = server.watch(maps, { timeoutSeconds: "10" });
  await settle();
  await server.clock.advance(10_001);
  await watched.ended;
  await server.ask("POST", maps, configMap("late"));
  await settle();
  assert.deepEqual(watched.events, []);
});

test("[KAS22] a watch from a forgotten revision gets one 410 event and ends", async () => {
  const server = new TestServer({ historyLimit: 2 });
  for (const name of ["a", "b", "c", "d"]) await server.ask("POST", maps, configMap(name));
  const watched = server.watch(maps, { resourceVersion: "3" });
  await watched.ended;
  assert.deepEqual(
    watched.events.map((event) => event.type),
    ["ERROR"],
  );
  const status = watched.events[0]?.object;
  assert.deepEqual([valueAt(status, "code"), valueAt(status, "reason")], [410, "Expired"]);
  assert.match(stringAt(status, "message"), /^too old resource version: 3 \(\d+\)$/);
});

test("[KAS22] options that make no sense are refused", async () => {
  const server = new TestServer();
  const watched = server.watch(maps, { sendInitialEvents: "true" });
  await assert.rejects(watched.ended, (error) => isKubeError(error, "Invalid"));
});
