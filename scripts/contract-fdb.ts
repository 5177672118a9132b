// `npm run contract:fdb`: the database cases on the simulated database and, when FoundationDB is installed, on real
// fdbservers that are started on loopback; then the life of a cluster of real fdbservers under the operator. A
// difference is a mistake of the simulation or of the client.
import { parseArgs } from "node:util";
import { findInstallation, installationPlaces } from "../src/fdb/client/installation.ts";
import type { Installation } from "../src/fdb/client/installation.ts";
import { allDatabaseCases } from "../test/contract-fdb/all-cases.ts";
import type { DatabaseCase, DatabaseTarget } from "../test/contract-fdb/database-case.ts";
import { allLifeCases, runLifeCase } from "../test/contract-fdb/life-cases.ts";
import { realLife } from "../test/contract-fdb/life-worlds.ts";
import { startRealDatabase } from "../test/contract-fdb/real-database.ts";
import { realKeysTarget } from "../test/contract-fdb/real-keys.ts";
import { simulatedDatabase } from "../test/contract-fdb/simulated-database.ts";
import { allKeysCases } from "../test/fdb/keys-contract.ts";
import { buildObjectStore } from "../test/object-store.ts";

const usage = `Usage: npm run contract:fdb -- [options]
  --filter TEXT   run the cases whose title contains TEXT (a real database is configured all the same)
  --only real|simulated
  --part database|life   on the real side: the cases of a database, or those of a cluster under the operator`;

const { values } = parseArgs({
  options: {
    filter: { type: "string", default: "" },
    only: { type: "string" },
    part: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}

interface Tally {
  passed: number;
  failed: number;
}

const isChosen = (title: string): boolean =>
  title.toLowerCase().includes(values.filter.toLowerCase());
const wanted = allDatabaseCases.filter(({ title }) => isChosen(title));
const wantedKeys = allKeysCases.filter(({ title, needsFaults }) => !needsFaults && isChosen(title));
const wantedLife = allLifeCases.filter(({ title }) => isChosen(title));
const tally: Tally = { passed: 0, failed: 0 };

if (values.only !== "real") await runSimulated();
if (values.only !== "simulated") {
  const found = await findInstallation(installationPlaces(process.env));
  if (found.newest === undefined) skipReal(found);
  else {
    if (values.part !== "life") await runReal(found, found.newest);
    if (values.part !== "database") await runLife();
  }
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);

async function runSimulated(): Promise<void> {
  for (const each of wanted.filter(({ needs }) => needs !== "client-process")) {
    const target = await simulatedDatabase(each.stage);
    await attempt("simulated", each.title, () => each.run(target));
    target.admin.close();
  }
}

function skipReal(installation: Installation): void {
  const count = wanted.length + wantedKeys.length + wantedLife.length;
  console.log(`SKIPPED: ${count} cases on a real FoundationDB, which is not installed.`);
  console.log(missing(installation));
}

async function runReal(installation: Installation, version: string): Promise<void> {
  if (wanted.length + wantedKeys.length === 0) return;
  console.log(`real FoundationDB ${version}`);
  await onReal(installation, version, false, async (target) => {
    const plain = wanted.filter(({ stage }) => stage !== "tls");
    await configureUnless(plain, target);
    for (const each of plain) {
      const lack = lackOf(each, target);
      if (lack === undefined) await attempt("real", each.title, () => each.run(target));
      else console.log(`SKIPPED: ${lack}: ${each.title}`);
    }
    for (const each of wantedKeys) {
      await attempt("real", each.title, async () => {
        const keys = await realKeysTarget(target);
        try {
          await each.run(keys);
        } finally {
          await keys.end();
        }
      });
    }
  });
  const tls = wanted.filter(({ stage }) => stage === "tls");
  if (tls.length === 0) return;
  await onReal(installation, version, true, async (target) => {
    await configureUnless(tls, target);
    for (const each of tls) await attempt("real with TLS", each.title, () => each.run(target));
  });
}

/** What is not there that a case needs. */
function lackOf({ needs }: DatabaseCase, { tools }: DatabaseTarget): string | undefined {
  if (needs !== "backup-tools" && needs !== "object-store") return undefined;
  if (tools === undefined) return "no fdbbackup, fdbrestore and backup_agent are installed";
  if (needs === "object-store" && tools.bucket === undefined) return "there is no S3 server";
  return undefined;
}

/** The S3 server, for the cases that need one; says why there is none. */
async function findObjectStore(): Promise<string | undefined> {
  if (![...wanted, ...wantedLife].some(({ needs }) => needs === "object-store")) return undefined;
  try {
    return await buildObjectStore(process.env, (line) => console.log(line));
  } catch (error) {
    console.log(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** One cluster lives through all cases, so the first that leaves it ill ends them. */
async function runLife(): Promise<void> {
  if (wantedLife.length === 0) return;
  let life: Awaited<ReturnType<typeof realLife>> | undefined;
  await attempt("real life", "a cluster is created", async () => {
    life = await realLife(process.env, await findObjectStore());
  });
  if (life === undefined) return;
  const { target, stop } = life;
  for (const each of wantedLife) {
    if (each.needs === "object-store" && target.store === undefined) {
      console.log(`SKIPPED: there is no S3 server: ${each.title}`);
    } else {
      await attempt("real life", each.title, () => runLifeCase(target, each));
    }
  }
  await stop();
}

async function onReal(
  installation: Installation,
  version: string,
  useTls: boolean,
  run: (target: DatabaseTarget) => Promise<void>,
): Promise<void> {
  const block = useTls ? 2 : 1;
  const objectStore = useTls ? undefined : await findObjectStore();
  const options = { installation, version, useTls, block, objectStore };
  const database = await startRealDatabase(options);
  try {
    await run(database.target);
  } finally {
    await database.stop();
  }
}

/** When the case that creates the database is filtered out, somebody else must. */
async function configureUnless(
  cases: readonly DatabaseCase[],
  { admin, pass }: DatabaseTarget,
): Promise<void> {
  if (cases.some(({ title }) => title.endsWith("configure new creates the database"))) return;
  await attempt("real", "a database for the other cases is created", async () => {
    await pass(3);
    await admin.configure("new double ssd", 120_000);
  });
}

async function attempt(side: string, title: string, run: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  try {
    await run();
    tally.passed += 1;
    if (side !== "simulated") console.log(`ok      ${side}, ${secondsSince(startedAt)}: ${title}`);
  } catch (error) {
    tally.failed += 1;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    console.log(`FAILED  ${side}, ${secondsSince(startedAt)}: ${title}\n${text}`);
  }
}

function secondsSince(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}

function missing(installation: Installation): string {
  const text = installation.explainMissing("7.3");
  return text === "" ? "fdbserver is missing: its folder is named in FDB_BINARY_DIR." : text;
}
