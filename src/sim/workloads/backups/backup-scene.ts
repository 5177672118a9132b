// What a life with backups has beside its cluster: an object store with somebody else's data in it, a second cluster to
// restore into, applications that write all the time, and the watch over all of it. Rules: spec/world.md [W130].
import { apiVersion, foundationDbClusters } from "../../../api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../../api/cluster.ts";
import { foundationDbBackups } from "../../../api/backup.ts";
import type { FoundationDBBackup } from "../../../api/backup.ts";
import { isOver } from "../../../api/effective-restore.ts";
import { foundationDbRestores } from "../../../api/restore.ts";
import type { FoundationDBRestore } from "../../../api/restore.ts";
import { keyedRandom } from "../../../env/keyed-random.ts";
import { randomInteger } from "../../../env/random.ts";
import type { Random } from "../../../env/random.ts";
import { isFdbError } from "../../../fdb/error.ts";
import type { FdbTransaction } from "../../../fdb/admin.ts";
import { secrets } from "../../../kube/resource.ts";
import type { Stored } from "../../../kube/resource.ts";
import { plantContainer } from "../../backup/backup-truth.ts";
import type { ObjectStore } from "../../backup/object-store.ts";
import { copyName, minuteMs, namespace } from "../life-terms.ts";
import type { LifeScene } from "../life-scene.ts";
import { podTemplateWith } from "../life-shape.ts";
import { bucket, foreignName, storeHost } from "./backup-specs.ts";
import { BackupWatch } from "./backup-watch.ts";
import { accountSecret, fileSecret } from "./secret-watch.ts";

const copySpec: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "single" },
  processCounts: { storage: 1, log: 1, stateless: 1 },
  processGroupIDPrefix: copyName,
  processes: { general: { podTemplate: podTemplateWith("first") } },
};

const writeEveryMs = 6_000;
const transactionMs = 4_000;

export class BackupScene {
  readonly store: ObjectStore;
  readonly watch: BackupWatch;
  /** Of what is written, apart from all that happens. */
  readonly #random: Random;
  readonly #life: LifeScene;
  #written = 0;
  #isBusy = false;
  #made = 0;
  /** Whether everything is there that a life with backups begins with. */
  hasBegun = false;
  /** The restore that gives back what was lost; until its end nothing is written. */
  recovery: string | undefined;
  lastWish: { name: string; back: object } | undefined;

  constructor(life: LifeScene, seed: number) {
    this.#life = life;
    this.#random = keyedRandom(seed, "writes");
    const { world, watchman } = life;
    this.store = world.fdb.objectStores.add(`${storeHost}:443`, {
      accounts: { KEY: fileSecret, OWN: accountSecret },
      buckets: [bucket],
      isSecure: true,
    });
    this.watch = new BackupWatch({
      ...{ world, store: this.store, bucket },
      violated: (text) => watchman.note(text),
    });
  }

  /** Everything that is there before the first step. */
  async begin(): Promise<void> {
    const { client } = this.#life.world;
    await client.create(secrets, {
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "store", namespace } },
      stringData: { "blob.json": this.credentials(fileSecret) },
    });
    plantContainer(this.store, bucket, foreignName);
    this.watch.containers.noteForeign(foreignName);
    await this.createCopy();
    await this.#life.until(() => this.isCopyAtRest(), 10 * minuteMs, "the second cluster comes up");
    this.watch.look();
    this.hasBegun = true;
    this.#keepWriting();
  }

  credentials(secret: string): string {
    return JSON.stringify({ accounts: { [`KEY@${storeHost}`]: { secret } } });
  }

  async createCopy(): Promise<void> {
    const { spec } = await this.#life.cluster();
    const cluster: Stored<FoundationDBCluster> = {
      ...{ apiVersion, kind: "FoundationDBCluster", metadata: { name: copyName, namespace } },
      spec: { version: await this.versionOf(), imageType: spec.imageType, ...copySpec },
    };
    await this.#life.world.client.create(foundationDbClusters, cluster);
  }

  async isCopyAtRest(): Promise<boolean> {
    const found = await this.copy();
    return (
      found?.status?.generations?.reconciled === found?.metadata.generation &&
      found?.status?.health?.available === true
    );
  }

  copy(): Promise<Stored<FoundationDBCluster> | undefined> {
    return this.#life.world.client.find(foundationDbClusters, { namespace, name: copyName });
  }

  /** The version that a cluster runs. */
  async versionOf(name = this.mainName): Promise<string> {
    const key = { namespace, name };
    const found = await this.#life.world.client.find(foundationDbClusters, key);
    return found?.status?.runningVersion ?? found?.spec.version ?? (await this.versionOf());
  }

  get mainName(): string {
    return this.#life.shape.members[0].name;
  }

  nextName(kind: string): string {
    this.#made += 1;
    return `${kind}${this.#made}`;
  }

  async backups(): Promise<Stored<FoundationDBBackup>[]> {
    return (await this.#life.world.client.list(foundationDbBackups, { namespace })).items;
  }

  async restores(): Promise<Stored<FoundationDBRestore>[]> {
    return (await this.#life.world.client.list(foundationDbRestores, { namespace })).items;
  }

  async look(): Promise<void> {
    this.watch.look();
    if (this.recovery === undefined) return;
    const key = { namespace, name: this.recovery };
    const found = await this.#life.world.client.find(foundationDbRestores, key);
    if (found === undefined || isOver(found)) this.recovery = undefined;
  }

  /** For applications: a database that does not answer, or is locked, is tried again later. */
  async transact(
    cluster: string,
    body: (transaction: FdbTransaction) => Promise<void>,
  ): Promise<boolean> {
    const { world } = this.#life;
    const database = world.fdb.truth
      .databases()
      .findLast(({ description, isAvailable }) => isAvailable && description === cluster);
    if (database === undefined) return false;
    const { connectionString } = database;
    const version = await this.versionOf(cluster);
    const admin = world.fdb.admin.open({ name: "application", connectionString, version });
    try {
      await admin.transact(body, { timeoutMs: transactionMs });
      return true;
    } catch (error) {
      if (isFdbError(error)) return false;
      throw error;
    } finally {
      admin.close();
    }
  }

  /** All keys of users; whether they are gone. */
  empty(cluster: string): Promise<boolean> {
    const clearing = this.transact(cluster, async (transaction) =>
      transaction.clearRange(Buffer.from(""), Buffer.from([0xff])),
    );
    return this.#life.during(clearing, `emptying ${cluster}`);
  }

  #keepWriting(): void {
    const { clock } = this.#life;
    const delayMs = randomInteger(this.#random, writeEveryMs / 2, (3 * writeEveryMs) / 2);
    clock.setTimer(delayMs, () => {
      this.#keepWriting();
      if (this.#isBusy || this.recovery !== undefined) return;
      this.#isBusy = true;
      const body = this.#change();
      void this.transact(this.mainName, async (transaction) => body(transaction)).finally(() => {
        this.#isBusy = false;
      });
    });
  }

  /** A few keys are set, some cleared, sometimes many at once. */
  #change(): (transaction: FdbTransaction) => void {
    const random = this.#random;
    const key = (): Buffer =>
      Buffer.from(`k/${String(randomInteger(random, 0, 30)).padStart(2, "0")}`);
    const sets = Array.from({ length: randomInteger(random, 1, 3) }, () => {
      this.#written += 1;
      return { key: key(), value: Buffer.from(`value ${this.#written}`) };
    });
    const cleared = random.next() < 0.2 ? key() : undefined;
    const range =
      random.next() < 0.08
        ? [key(), key()].toSorted((left, right) => Buffer.compare(left, right))
        : undefined;
    return (transaction) => {
      const [begin, end] = range ?? [];
      if (begin !== undefined && end !== undefined) transaction.clearRange(begin, end);
      if (cleared !== undefined) transaction.clear(cleared);
      for (const each of sets) transaction.set(each.key, each.value);
    };
  }
}
