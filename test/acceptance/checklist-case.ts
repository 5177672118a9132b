// Registers the tests of the acceptance checklist: a case is named by its id, and its title is the wording of
// test/data/checklist.json. `npm run checklist` counts the ids that appear here.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const file = join(import.meta.dirname, "..", "data", "checklist.json");
const checklist = JSON.parse(readFileSync(file, "utf8")) as Record<string, readonly string[]>;
const registered = new Set<string>();

interface Register {
  /** One case of the checklist, such as "A05.2". */
  item: (id: string, body: () => void | Promise<void>) => void;
  /** Several cases that ask the same question of different rows. */
  table: <Row extends readonly unknown[]>(
    rows: Readonly<Record<string, Row>>,
    body: (...row: Row) => void | Promise<void>,
  ) => void;
  /** Cases that the checklist names in several places: the world is made once, and each of them fails with it. */
  together: (ids: readonly string[], body: () => Promise<void>) => void;
}

function register(ending: string): Register {
  const item: Register["item"] = (id, body) => {
    const [name = "", number = ""] = id.split(".");
    const wording = checklist[name]?.[Number(number) - 1];
    assert.ok(wording !== undefined, `${id} is not on the checklist`);
    assert.ok(!registered.has(id), `${id} is tested twice`);
    registered.add(id);
    test(`[${id}] ${wording}${ending}`, body);
  };
  return {
    item,
    table: (rows, body) => {
      for (const [id, row] of Object.entries(rows)) item(id, () => body(...row));
    },
    together: (ids, body) => {
      const run = shared(body);
      for (const id of ids) item(id, run);
    },
  };
}

/** What several cases look at is made once, by the first of them. */
export function shared<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

export const { item, table, together } = register("");

/** Cases that need a whole life of a cluster. Rule: spec/house.md [HOUSE15]. */
export const long = register(" (long)");
