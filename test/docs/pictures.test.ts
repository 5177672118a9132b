// Pictures of the manual come from the running program. Rules: spec/manual.md [MAN9].
import { strict as assert } from "node:assert";
import { globSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { test } from "node:test";
import { drawTerminal } from "../../scripts/draw-terminal.ts";

const root = join(import.meta.dirname, "..", "..");

/** Each picture of docs/ with the script that makes it; a new one gets its line. */
const drawnBy: Readonly<Record<string, string>> = {
  "docs/dashboard-map.png": "test/browser/pictures.ts",
  "docs/dashboard-time-line.png": "test/browser/pictures.ts",
  "docs/terminal.svg": "scripts/draw-terminal.ts",
};

test("[MAN9] every picture of the manual is made by a script", () => {
  const pictures = globSync("docs/**/*.{svg,png,jpg,gif,webp}", { cwd: root });
  assert.deepEqual(
    pictures.map((file) => file.replaceAll("\\", "/")).toSorted(),
    Object.keys(drawnBy).toSorted(),
  );
  for (const [picture, script] of Object.entries(drawnBy)) {
    assert.ok(
      readFileSync(join(root, script), "utf8").includes(basename(picture, extname(picture))),
      `${script} does not name ${picture}`,
    );
  }
});

test("[MAN9] the picture of the terminal is what npm start shows today", async () => {
  const drawn = await drawTerminal();
  const kept = readFileSync(join(root, "docs/terminal.svg"), "utf8");
  assert.equal(kept, drawn, "run npm run pictures");
});
