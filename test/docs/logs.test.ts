// docs/logs.md says what the operator logs: the messages and levels of the sources, and fields that it explains.
// Rules: spec/manual.md [MAN10].
import { strict as assert } from "node:assert";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { createResources } from "../../src/cli/create-resources.ts";
import { readDocuments } from "../../src/cli/documents.ts";
import type { Log, LogFields } from "../../src/env/log.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { isReconciled, startWorld } from "../../src/sim/world.ts";

const root = join(import.meta.dirname, "..", "..");
const page = readFileSync(join(root, "docs/logs.md"), "utf8");
const [, afterFields = ""] = page.split("\n## Fields\n");
const [fieldPart = "", messagePart = ""] = afterFields.split("\n## Messages\n");

const rowsOf = (part: string): string[][] =>
  part
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => cell.trim()));
const codesIn = (text = ""): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const fields = rowsOf(fieldPart).flatMap(([, names]) => codesIn(names));
const messages = new Map(
  rowsOf(messagePart).map(([, name, level = "", named = ""]) => [
    codesIn(name)[0] ?? "",
    { level, fields: codesIn(named), isAsBefore: named.startsWith("the same") },
  ]),
);

const levels = ["debug", "info", "warn", "error"];

interface LogCall {
  readonly level: string;
  readonly message: string;
  /** Names that are written out; others come with a spread. */
  readonly fields: readonly string[];
}

/** What the sources of the operator log; the emulation and the simulation are not part of it. */
function logCalls(): LogCall[] {
  const files = globSync("src/{api,build,cli,env,fdb,kube,operate,plan,pod}/**/*.ts", {
    cwd: root,
  });
  const call =
    /\blog\??(?:\.(debug|info|warn|error)|\[([^\]]*)\])\(\s*(["`])(.*?)\3(?:,\s*\{([^{}]*)\})?/gs;
  return files
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) => [...readFileSync(join(root, file), "utf8").matchAll(call)])
    .map(([, level, computed = "", , message = "", given = ""]) => ({
      // A level that depends is written as "warn or info".
      level: level ?? computed,
      message,
      fields: given
        .split(",")
        .map((entry) => entry.trim().split(":")[0] ?? "")
        .filter((name) => /^\w+$/.test(name)),
    }));
}

test("[MAN10] docs/logs.md names every message of the operator with its level, and no other", () => {
  const inSources = new Set(logCalls().map(({ message }) => message));
  assert.deepEqual([...inSources].toSorted(), [...messages.keys()].toSorted());
  const wrong = logCalls().filter(({ level, message }) => {
    const written = messages.get(message)?.level ?? "";
    return levels.includes(level) ? written !== level : !written.includes(" or ");
  });
  assert.deepEqual(wrong, []);
});

test("[MAN10] messages are constant: what differs is a field", () => {
  assert.deepEqual(
    logCalls().filter(({ message }) => message.includes("${")),
    [],
  );
});

test("[MAN10] every field that is logged is explained", () => {
  const logged = logCalls().flatMap((call) =>
    call.fields.map((name) => (name === "message" ? "detail" : name)),
  );
  const named = [...messages.values()].flatMap((each) => each.fields);
  const known = new Set(fields);
  assert.deepEqual(
    [...new Set([...logged, ...named])].filter((name) => !known.has(name)),
    [],
  );
  const used = new Set([...logged, ...named, "time", "level", "message"]);
  assert.deepEqual(
    fields.filter((name) => !used.has(name)),
    [],
    "explained, and never logged",
  );
});

test("[MAN10] lines of a cluster that comes up have the fields that the page names, of one kind each", async () => {
  const lines: { level: string; message: string; fields: LogFields }[] = [];
  const clock = new VirtualClock();
  const world = startWorld({ clock, seed: 1, log: keepingLog(lines, {}) });
  let isUp = false;
  void world.started.then(() => {
    isUp = true;
  });
  await clock.run({ until: () => isUp });
  const documents = await readDocuments(join(root, "examples/cluster.yaml"));
  await createResources(world.client, world.transport, documents);
  let cluster: FoundationDBCluster | undefined;
  for (
    let tries = 0;
    tries < 1000 && (cluster === undefined || !isReconciled(cluster));
    tries += 1
  ) {
    await clock.advance(1000);
    cluster = await world.client.get(foundationDbClusters, {
      namespace: "default",
      name: "sample",
    });
  }
  await world.stop();
  const own = lines.filter((line) => line.fields["source"] === "operator");
  assert.ok(own.some(({ message }) => message === "reconciled"));
  const kinds = new Map<string, string>();
  for (const { level, message, fields: given } of own) {
    const expected = messages.get(message);
    assert.ok(expected?.level.split(" or ").includes(level) === true, `${level} ${message}`);
    for (const [name, value] of Object.entries(given)) {
      if (name === "source" || value === undefined) continue;
      const written = name === "message" ? "detail" : name;
      assert.ok(expected.isAsBefore || expected.fields.includes(written), `${message}: ${name}`);
      assert.equal(kinds.get(written) ?? typeof value, typeof value, `${message}: ${name}`);
      kinds.set(written, typeof value);
      if (name === "cluster") assert.equal(value, "default/sample", message);
    }
  }
});

function keepingLog(
  lines: { level: string; message: string; fields: LogFields }[],
  always: LogFields,
): Log {
  const keep = (level: string) => (message: string, given?: LogFields) =>
    void lines.push({ level, message, fields: { ...always, ...given } });
  return {
    ...{ debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") },
    with: (more) => keepingLog(lines, { ...always, ...more }),
  };
}
