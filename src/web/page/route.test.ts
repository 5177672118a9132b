// Addresses of views. Rules: spec/page.md [PAGE3].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { hashOf, routeOf } from "./route.ts";
import type { Route } from "./route.ts";

test("[PAGE3] every view of every cluster has an address", () => {
  const routes: Route[] = [
    { view: "clusters" },
    { view: "map", namespace: "default", name: "sample" },
    { view: "map", namespace: "default", name: "sample", group: "storage-1" },
    { view: "time-line", namespace: "a b/c", name: "100%" },
  ];
  for (const route of routes) assert.deepEqual(routeOf(hashOf(route)), route);
});

test("[PAGE3] an address that cannot be understood leads to the clusters", () => {
  const odd = ["", "#", "#/cluster/default", "#/cluster//x/map", "#/cluster/a/b/dance", "#/%E0%A4"];
  for (const hash of odd) assert.deepEqual(routeOf(hash), { view: "clusters" });
});
