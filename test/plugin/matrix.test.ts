// Each command of `kubectl fdb` in each situation: it works, refuses with a reason, is rehearsed, is read by programs, lacks
// rights, lacks its cluster, and finds no operator. Rules: spec/plugin.md.
import { strict as assert } from "node:assert";
import { after, before, describe, test } from "node:test";
import { small, TestWorld } from "../world/world-harness.ts";
import { runPlugin } from "./plugin-harness.ts";
import type { PluginOptions } from "./plugin-harness.ts";
import { commandRows } from "./matrix-rows.ts";
import type { Row } from "./matrix-rows.ts";

let world: TestWorld;
/** Names that are only known when the cluster is up. */
let names: { STORAGE: string; STATELESS: string; LOG: string; NODE: string; CONNECTION: string };

function filled(args: readonly string[]): string[] {
  return args.map((arg) =>
    arg.replaceAll(
      /\b(STORAGE|STATELESS|LOG|NODE|CONNECTION)\b/g,
      (name) => names[name as keyof typeof names],
    ),
  );
}

function run(args: readonly string[], options: PluginOptions = {}) {
  return runPlugin(world, filled(args), options);
}

/** Everything that is stored, so that a single write shows. */
function revision(): number {
  return world.world.server.context.store.revision;
}

async function atRest(): Promise<void> {
  await world.untilReconciled();
}

before(async () => {
  world = await TestWorld.open({});
  await world.createCluster(small);
  await world.untilReconciled();
  const name = async (processClass: string) => {
    const [pod] = await world.pods(processClass);
    return pod?.metadata.name ?? "";
  };
  const [storage] = await world.pods("storage");
  names = {
    STORAGE: await name("storage"),
    STATELESS: await name("stateless"),
    LOG: await name("log"),
    NODE: storage?.spec?.nodeName ?? "",
    CONNECTION: (await world.cluster()).status?.connectionString ?? "",
  };
});

after(() => world.close());

const title = (row: Row, what: string): string => `${row.rule} ${row.args.join(" ")}: ${what}`;

describe("refusals", () => {
  for (const row of commandRows) {
    for (const [args, reason, code = 2] of row.refused) {
      test(`${row.rule} ${args.join(" ")}: refused`, async () => {
        const mark = revision();
        const result = await run(args);
        assert.equal(result.code, code, result.notes);
        assert.match(result.notes, reason);
        assert.equal(result.notes.trim().split("\n").at(-1)?.startsWith("kubectl fdb: "), true);
        assert.equal(revision(), mark, "nothing was written");
      });
    }
  }
});

describe("without rights, without the cluster", () => {
  for (const row of commandRows) {
    test(title(row, "without rights"), async () => {
      world.world.server.context.authorize = ({ userName }) => userName !== "eve";
      try {
        const yes = row.isWrite === true ? ["--yes"] : [];
        const result = await run(["--as", "eve", ...row.args, ...yes]);
        assert.equal(result.code, 1, result.notes);
        assert.match(result.notes, /kubectl fdb: (.*: )?not allowed: .*User "eve" cannot/);
      } finally {
        world.world.server.context.authorize = undefined;
      }
    });
    if (row.args.includes("sample")) {
      test(title(row, "without the cluster"), async () => {
        const args = row.args.map((arg) => (arg === "sample" ? "simple" : arg));
        const result = await run(args);
        assert.deepEqual([result.code, result.out], [1, ""]);
        assert.match(
          result.notes,
          /^kubectl fdb: there is no FoundationDBCluster simple in namespace default; did you mean sample\?\n$/,
        );
      });
    }
  }
});

describe("rehearsals and questions", () => {
  for (const row of commandRows.filter(({ isWrite }) => isWrite)) {
    test(title(row, "with --dry-run nothing is stored"), async () => {
      await atRest();
      const mark = revision();
      const result = await run([...row.args, "--dry-run"]);
      assert.equal(result.code, 0, result.notes);
      assert.match(result.out + result.notes, /[Ww]ould /);
      assert.equal(revision(), mark);
    });
    test(title(row, "without a terminal and without --yes nothing is done"), async () => {
      const mark = revision();
      const result = await run(row.args);
      assert.equal(result.code, 1);
      assert.match(result.notes, /has to be confirmed, and standard input is no terminal/);
      assert.equal(revision(), mark);
    });
    test(title(row, "a no stops it"), async () => {
      const mark = revision();
      const result = await run(row.args, { answers: ["hm", "n"] });
      assert.equal(result.code, 1);
      assert.match(result.notes, /\[y\/n\]: .*\[y\/n\]: /s);
      assert.equal(revision(), mark);
    });
  }
});

describe("for programs", () => {
  for (const row of commandRows.filter(({ isRead }) => isRead)) {
    test(title(row, "-o json is JSON and nothing else"), async () => {
      const { out } = await run([...row.args, "-o", "json"]);
      assert.doesNotThrow(() => JSON.parse(out) as unknown, out);
    });
  }
});

describe("it works, also while no operator runs", () => {
  before(() => world.during(world.world.stopOperator(), 600_000, "the end of the operator"));
  for (const row of commandRows) {
    test(title(row, "works without an operator"), async () => {
      const yes = row.isWrite === true ? ["--yes"] : [];
      const result = await run([...row.args, ...yes]);
      assert.equal(result.code, row.code ?? 0, result.notes);
      assert.match(result.out, row.works);
      await row.check?.(world, names);
    });
  }
});
