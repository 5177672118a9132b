// Each command of `kubectl fdb` in each situation: it works, refuses with a reason, is rehearsed, is read by programs, lacks
// rights, lacks its cluster, and finds no operator. Who calls it says how the plugin is run: in this process, or by the
// real kubectl. Rules: spec/plugin.md.
import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { minuteMs, small, TestWorld, tiny } from "../world/world-harness.ts";
import { commandRows } from "./matrix-rows.ts";
import type { Row } from "./matrix-rows.ts";
import type { PluginOptions, PluginResult } from "./plugin-harness.ts";
import { viewRows } from "./matrix-view-rows.ts";

export interface MatrixWay {
  /** Called once the world is up. */
  readonly start?: (world: TestWorld) => Promise<void>;
  readonly stop?: () => Promise<void>;
  readonly run: (
    world: TestWorld,
    args: readonly string[],
    options?: Pick<PluginOptions, "answers">,
  ) => Promise<PluginResult>;
  /** What is stored, so that a write of the plugin shows. */
  readonly stored: (world: TestWorld) => Promise<unknown>;
  /** Somebody can sit at the keyboard. */
  readonly canAsk: boolean;
  /** Waiting costs nothing. */
  readonly isPatient: boolean;
  /** Of each command. */
  readonly refusalsMaximum: number;
  readonly skip: string | false;
}

export const matrixRows: readonly Row[] = [...viewRows, ...commandRows];

const isClusterName = (arg: string): boolean => arg === "sample" || arg === "split";

const titleOf = (row: Row, what: string): string => `${row.rule} ${row.args.join(" ")}: ${what}`;

const withYes = (row: Row): string[] => [...row.args, ...(row.isWrite === true ? ["--yes"] : [])];

export function describeMatrix(title: string, way: MatrixWay): void {
  describe(title, { skip: way.skip }, () => {
    let world: TestWorld;
    let folder: string;
    /** Names that are only known when the cluster is up. */
    let names: Readonly<Record<string, string>> = {};

    const run = (args: readonly string[], options?: Pick<PluginOptions, "answers">) => {
      const filled = args.map((arg) =>
        arg.replaceAll(
          /\b(STORAGE|STATELESS|LOG|NODE|CONNECTION|FILE)\b/g,
          (name) => names[name] ?? name,
        ),
      );
      return way.run(world, filled, options);
    };

    const changesNothing = async (body: () => Promise<void>): Promise<void> => {
      const mark = await way.stored(world);
      await body();
      assert.deepEqual(await way.stored(world), mark, "nothing was written");
    };

    before(async () => {
      if (way.skip !== false) return;
      world = await TestWorld.open({});
      folder = mkdtempSync(join(tmpdir(), "fdb-matrix-"));
      names = { ...(await createClusters(world)), FILE: join(folder, "report.tar.gz") };
      await way.start?.(world);
    });

    after(async () => {
      if (way.skip !== false) return;
      await way.stop?.();
      await world.close();
      rmSync(folder, { recursive: true });
    });

    for (const row of matrixRows) {
      for (const [args, reason, code = 2] of row.refused.slice(0, way.refusalsMaximum)) {
        test(`${row.rule} ${args.join(" ")}: refused`, async () => {
          await changesNothing(async () => {
            const result = await run(args);
            assert.equal(result.code, code, result.notes);
            assert.match(result.notes, reason);
            assert.match(result.notes.trim().split("\n").at(-1) ?? "", /^kubectl fdb: /);
          });
        });
      }
    }

    for (const row of matrixRows.filter(({ asksNobody }) => asksNobody !== true)) {
      test(titleOf(row, "without rights"), async () => {
        world.world.server.context.authorize = ({ userName }) => userName !== "eve";
        try {
          const result = await run(["--as", "eve", ...withYes(row)]);
          assert.equal(result.code, 1, result.notes);
          assert.match(result.notes, /kubectl fdb: (.*: )?not allowed: .*User "eve" cannot/);
        } finally {
          world.world.server.context.authorize = undefined;
        }
      });
    }

    for (const row of matrixRows.filter(({ args }) => args.some(isClusterName))) {
      test(titleOf(row, "without the cluster"), async () => {
        const args = row.args.map((arg) => (isClusterName(arg) ? "simple" : arg));
        const result = await run(args);
        assert.deepEqual([result.code, result.out], [1, ""]);
        assert.match(
          result.notes,
          /^kubectl fdb: there is no FoundationDBCluster simple in namespace default; did you mean sample\?\n$/,
        );
      });
    }

    for (const row of matrixRows.filter(({ isWrite }) => isWrite)) {
      test(titleOf(row, "with --dry-run nothing is stored"), async () => {
        await world.untilReconciled();
        await changesNothing(async () => {
          const result = await run([...row.args, "--dry-run"]);
          assert.equal(result.code, 0, result.notes);
          assert.match(result.out + result.notes, /[Ww]ould /);
        });
      });
      test(titleOf(row, "without a terminal and without --yes nothing is done"), async () => {
        await changesNothing(async () => {
          const result = await run(row.args);
          assert.equal(result.code, 1);
          assert.match(result.notes, /has to be confirmed, and standard input is no terminal/);
        });
      });
      if (!way.canAsk) continue;
      test(titleOf(row, "a no stops it"), async () => {
        await changesNothing(async () => {
          const result = await run(row.args, { answers: ["hm", "n"] });
          assert.equal(result.code, 1);
          assert.match(result.notes, /\[y\/n\]: .*\[y\/n\]: /s);
        });
      });
    }

    for (const row of matrixRows.filter(({ isRead }) => isRead)) {
      test(titleOf(row, "-o json is JSON and nothing else"), async () => {
        const { out } = await run([...row.args, "-o", "json"]);
        assert.doesNotThrow(() => JSON.parse(out) as unknown, out);
      });
    }

    const works = async (row: Row): Promise<void> => {
      const result = await run(withYes(row));
      assert.equal(result.code, row.code ?? 0, result.notes);
      assert.match(result.out, row.works ?? /$/);
      await row.check?.(world, names);
    };

    const whole = matrixRows.filter((row) => row.works !== undefined);
    for (const row of whole.filter(({ withoutOperator }) => withoutOperator !== undefined)) {
      test(titleOf(row, "works"), () => works(row));
    }

    describe("while no operator runs", () => {
      before(() => world.during(world.world.stopOperator(), 600_000, "the end of the operator"));
      for (const row of whole) {
        const { withoutOperator: reason } = row;
        if (reason === undefined) {
          test(titleOf(row, "works without an operator"), () => works(row));
        } else if (way.isPatient) {
          test(titleOf(row, "says that no operator answers"), async () => {
            const result = await run(withYes(row));
            assert.deepEqual([result.code, result.out], [1, ""]);
            assert.match(result.notes, reason);
          });
        }
      }
    });
  });
}

async function createClusters(world: TestWorld): Promise<Record<string, string>> {
  await world.createCluster(small);
  await world.createCluster({ ...tiny, imageType: "split" }, { name: "split" });
  await world.untilReconciled();
  await world.untilReconciled(5 * minuteMs, { name: "split" });
  const name = async (processClass: string): Promise<string> => {
    const [pod] = await world.pods(processClass);
    return pod?.metadata.name ?? "";
  };
  const [storage] = await world.pods("storage");
  return {
    STORAGE: await name("storage"),
    STATELESS: await name("stateless"),
    LOG: await name("log"),
    NODE: storage?.spec?.nodeName ?? "",
    CONNECTION: (await world.cluster()).status?.connectionString ?? "",
  };
}
