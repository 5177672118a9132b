// A person who looks at a cluster that does not come to rest and does what the operator says only a person can do.
// Rules: spec/world.md [W123].
import { isFdbError } from "../../fdb/error.ts";
import { isKubeError } from "../../kube/error.ts";
import { keyOf } from "../../kube/path.ts";
import { persistentVolumeClaims } from "../../kube/resource.ts";
import { namespace } from "./life-terms.ts";
import type { LifeScene } from "./life-scene.ts";

interface Wait {
  readonly reason?: string;
  readonly remedy?: string;
}

/** A database whose recovery is stuck takes its time to tell of it. */
const timeoutMs = 60_000;

const nameLabel = "foundationdb.org/fdb-cluster-name";
const idLabel = "foundationdb.org/fdb-process-group-id";
const classLabel = "foundationdb.org/fdb-process-class";

/** One database has one configuration: all its members are told. */
async function resumeMigration(life: LifeScene): Promise<void> {
  const databaseConfiguration = {
    storage_migration_type: "gradual",
    perpetual_storage_wiggle: 1,
  } as const;
  for (const { name } of life.shape.members) {
    life.note(`person: lets ${name} go on with the storage engine`);
    await life.patch(name, { databaseConfiguration });
  }
}

/** Does what the waits of all members ask a person for. */
export async function followRemedies(life: LifeScene): Promise<void> {
  for (const { name } of life.shape.members) {
    const { status } = await life.cluster(name);
    const waits = status?.blockedBy ?? [];
    if (waits.some(isAboutConnectionString)) {
      await tellConnectionString(life, name);
    }
    const { layoutOnDisks } = life;
    if (layoutOnDisks && waits.some(({ remedy }) => isAboutDisks(remedy))) {
      life.note(`person: lets ${name} look for its data where it was written`);
      await life.patch(name, layoutOnDisks);
    }
    const refusal = waits.find(({ reason }) => reason === "AdoptionRefused")?.message ?? "";
    if (/its labels? |processes of class/.test(refusal)) await correctLabels(life, name);
    const gap = waits.find(({ reason }) => reason === "AdoptionIncomplete")?.message;
    if (gap !== undefined) await lowerCounts(life, name, gap);
    if (waits.some(({ reason }) => reason === "VolumeShrinkRefused")) {
      life.note(`person: lets ${name} have new, smaller volumes`);
      await life.patch(name, { automationOptions: { volumeSizeChange: "Replace" } });
    }
    // Data that is not healthy, and what stands still for no known reason, is nobody's excuse.
    if (waits.some(({ reason, message }) => isStuck(reason) && message?.includes("need all of"))) {
      life.note(`person: lets ${name} replace storage processes of the old engine`);
      await life.patch(name, { automationOptions: { storageEngineChange: "Replace" } });
    }
    // Somebody took the engine back and with it the setting that lets the database change it.
    if (waits.some(({ reason }) => reason === "StorageEngineMigrationPaused")) {
      await resumeMigration(life);
    }
    const ahead = waits.find(({ message }) => message?.includes("run the new version already"));
    if (ahead !== undefined) {
      const pods = podsToRestart(ahead);
      const restart = pods === undefined ? restartOthers(life, name) : restartIn(life, pods);
      await life.during(restart, "a person's restart");
    }
  }
}

/** The spec was changed before an adopted database was back, and does not fit its volumes any more. */
function isAboutDisks(remedy = ""): boolean {
  return /^(Set|Take) spec\.(imageType|processGroupIDPrefix)/.test(remedy);
}

/** Somebody spoilt them before an adopted database was back: the name of a claim tells its process group. */
async function correctLabels(life: LifeScene, name: string): Promise<void> {
  const { client } = life.world;
  const labelSelector = `${nameLabel}=${name}`;
  const { items } = await client.list(persistentVolumeClaims, { namespace, labelSelector });
  life.note(`person: corrects the labels of the volume claims of ${name}`);
  for (const claim of items) {
    const [, id = "", processClass = ""] =
      /^[a-z]+-(([a-z]+)-\d+)-data$/.exec(claim.metadata.name ?? "") ?? [];
    const prefix = life.layoutOnDisks?.processGroupIDPrefix ?? "";
    const labels = {
      [idLabel]: prefix === "" ? id : `${prefix}-${id}`,
      [classLabel]: processClass,
    };
    const patch = { metadata: { labels } };
    await client.patch(persistentVolumeClaims, keyOf(claim), patch, { type: "merge" });
  }
}

/** More was wished for than is on the disks, before the database was back. */
async function lowerCounts(life: LifeScene, name: string, told: string): Promise<void> {
  const found = [...told.matchAll(/(\w+): (\d+) of (\d+) are missing/g)];
  const processCounts = Object.fromEntries(
    found.map(([, processClass = "", missing, wanted]) => [
      processClass,
      Number(wanted) - Number(missing),
    ]),
  );
  life.note(`person: asks for what is on the disks of ${name}: ${JSON.stringify(processCounts)}`);
  await life.patch(name, { processCounts });
}

/** The database changes no engine: with as many fault domains as copies nobody can take the data of one. */
function isStuck(reason: string | undefined): boolean {
  return reason === "StorageEngineMigrationStuck";
}

/** Also where volumes disagree, since a server was away when coordinators changed for the last time. */
function isAboutConnectionString({ reason, remedy }: Wait): boolean {
  const isDoubted = reason === "AdoptionRefused" && /spec\.seedConnectionString/.test(remedy ?? "");
  return reason === "ConnectionStringLost" || isDoubted;
}

/** Where status and ConfigMap were lost at once, nobody else knows it. */
async function tellConnectionString(life: LifeScene, name: string): Promise<void> {
  const databases = life.world.fdb.truth.databases();
  const found = databases.find(({ isConfigured }) => isConfigured);
  if (found === undefined) return;
  life.note(`person: tells ${name} the connection string`);
  await life.patch(name, { seedConnectionString: found.connectionString });
}

/** Where no majority of the coordinators is left, the wait names the pods of those that still answer. */
function podsToRestart({ remedy = "" }: Wait): string[] | undefined {
  const [, names] = /pkill fdbserver` for each of (.+?)\. /.exec(remedy) ?? [];
  return names?.split(/, | and /).filter((name) => /^[a-z0-9-]+$/.test(name));
}

async function restartIn(life: LifeScene, pods: readonly string[]): Promise<void> {
  life.watchman.noteDisturbance();
  for (const pod of pods) {
    const place = { namespace, pod, container: "foundationdb" };
    try {
      await life.world.pods.run({ ...place, command: ["pkill", "fdbserver"], timeoutMs });
      life.note(`person: restarts ${pod}, which follows the coordinators that ran ahead`);
    } catch (error) {
      // A pod that does not run just now is looked at again later.
      if (!isKubeError(error)) throw error;
    }
  }
}

/** A database that needs what ran ahead of it to the next version follows. */
async function restartOthers(life: LifeScene, name: string): Promise<void> {
  life.watchman.noteDisturbance();
  const admin = await life.openAdmin(name);
  try {
    const { cluster } = await admin.status(timeoutMs);
    const addresses = Object.values(cluster?.processes ?? {}).flatMap(({ address }) =>
      address === undefined ? [] : [address.replace(/:tls$/, "")],
    );
    await admin.kill(addresses, timeoutMs);
    life.note(`person: restarts ${addresses.length} processes, which follow those that ran ahead`);
  } catch (error) {
    // A database that does not answer is looked at again later.
    if (!isFdbError(error)) throw error;
  } finally {
    admin.close();
  }
}
