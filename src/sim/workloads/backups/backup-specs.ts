// Backups and restores that people wish for in a life, and what they change about them, drawn at random. Rules:
// spec/world.md [W130].
import type { BackupSpec } from "../../../api/backup.ts";
import type { RestoreSpec } from "../../../api/restore.ts";
import { randomInteger, randomPick } from "../../../env/random.ts";
import type { Random } from "../../../env/random.ts";
import { withCertificates } from "../../sample-certificates.ts";
import { accountSecret } from "./secret-watch.ts";

export const storeHost = "store.example.com";
export const bucket = "backups";
export const foreignName = "of-somebody-else";

const frugal = { requests: { cpu: "10m", memory: "16Mi" } };

/** Agents with the credentials of the store and with certificates. */
function agentTemplate(value: string): NonNullable<BackupSpec["podTemplateSpec"]> {
  return {
    spec: withCertificates({
      containers: [
        {
          name: "foundationdb",
          env: [
            { name: "FDB_BLOB_CREDENTIALS", value: "/var/store/blob.json" },
            { name: "ANSWER", value },
          ],
          resources: frugal,
          volumeMounts: [{ name: "store", mountPath: "/var/store" }],
        },
      ],
      initContainers: [{ name: "foundationdb-kubernetes-init", resources: frugal }],
      volumes: [{ name: "store", secret: { secretName: "store" } }],
    }),
  };
}

function storeOf(
  random: Random,
  backupName: string | undefined,
): BackupSpec["blobStoreConfiguration"] {
  const key = random.next() < 0.12 ? `OWN:${accountSecret}` : "KEY";
  return {
    accountName: `${key}@${storeHost}`,
    bucket,
    urlParameters: ["region=eu-1"],
    ...(backupName === undefined ? {} : { backupName }),
  };
}

const retention = (random: Random): BackupSpec["retention"] => ({
  restorableFor: randomPick(random, ["2m", "5m", "15m"]),
  interval: "10m",
});

const schedule = (random: Random): BackupSpec["schedule"] => ({
  cron: randomPick(random, ["*/10 * * * *", "*/15 * * * *", "5-59/20 * * * *"]),
  timeZone: randomPick(random, ["UTC", "Europe/Berlin", "Asia/Kolkata"]),
  ...(random.next() < 0.7 ? { keepLast: randomInteger(random, 1, 2) } : {}),
});

export interface BackupSurroundings {
  random: Random;
  name: string;
  clusterName: string;
  /** That the database runs. */
  version: string;
  /** Names of destinations that others use. */
  places: readonly string[];
}

export function newBackup({
  random,
  name,
  clusterName,
  version,
  places,
}: BackupSurroundings): BackupSpec {
  const chance = random.next();
  const kind =
    chance < 0.4
      ? {}
      : chance < 0.65
        ? { retention: retention(random) }
        : chance < 0.75
          ? { backupMode: "oneTime" as const }
          : { backupMode: "oneTime" as const, schedule: schedule(random) };
  const others = [foreignName, ...places];
  return {
    version,
    clusterName,
    ...kind,
    imageType: randomPick(random, ["unified", "split"]),
    agentCount: randomInteger(random, 1, 2),
    snapshotPeriodSeconds: randomPick(random, [30, 60, 120]),
    deletionPolicy: randomPick(random, ["noop", "stop", "cleanup", "cleanup"]),
    ...(random.next() < 0.85 ? { tag: name } : {}),
    ...(random.next() < 0.1 ? { suspendOnUnhealthy: true } : {}),
    blobStoreConfiguration: storeOf(
      random,
      random.next() < 0.12 ? randomPick(random, others) : undefined,
    ),
    podTemplateSpec: agentTemplate("first"),
  };
}

type Wish = (around: BackupSurroundings, spec: BackupSpec) => object;

const wishes: Readonly<Record<string, Wish>> = {
  paused: () => ({ backupState: "Paused" }),
  running: () => ({ backupState: "Running" }),
  stopped: () => ({ backupState: "Stopped" }),
  "running again": () => ({ backupState: "Running" }),
  "another period": ({ random }) => ({ snapshotPeriodSeconds: randomPick(random, [20, 45, 90]) }),
  "other agents": ({ random }) => ({ agentCount: randomInteger(random, 0, 3) }),
  "another template": ({ random }) => ({
    podTemplateSpec: agentTemplate(`value-${randomInteger(random, 1, 9)}`),
  }),
  "another retention": ({ random }, { backupMode }) =>
    backupMode === "oneTime" ? {} : { retention: random.next() < 0.2 ? null : retention(random) },
  "another schedule": ({ random }, spec) =>
    spec.schedule === undefined ? {} : { schedule: { keepLast: null, ...schedule(random) } },
  "another policy": ({ random }) => ({
    deletionPolicy: randomPick(random, ["noop", "stop", "cleanup"]),
  }),
  "another place": ({ random, name }, { blobStoreConfiguration }) => ({
    blobStoreConfiguration: {
      ...blobStoreConfiguration,
      backupName: `${name}-moved-${randomInteger(random, 1, 9)}`,
    },
  }),
  "another version": ({ version }) => ({ version }),
  "an alarm": ({ random }) => ({ lagAlarm: randomPick(random, ["1m", "5m", "1h"]) }),
  "a pause in trouble": ({ random }) => ({ suspendOnUnhealthy: random.next() < 0.5 }),
  "what cannot be": ({ random }) =>
    randomPick(random, [
      { schedule: { cron: "61 * * * *" } },
      { lagAlarm: "5s" },
      { blobStoreConfiguration: { accountName: "nobody" } },
    ]),
};

/** A merge patch of the spec, and by which name people know it. */
export function wishOfBackup(
  around: BackupSurroundings,
  spec: BackupSpec,
): { readonly called: string; readonly change: object } {
  const called = randomPick(around.random, Object.keys(wishes));
  return { called, change: wishes[called]?.(around, spec) ?? {} };
}

export interface RestoreSurroundings {
  random: Random;
  name: string;
  fromBackup: string;
  source: BackupSpec;
  destinationClusterName: string;
  /** Whether the destination has data that stays. */
  isBeside: boolean;
  nowMs: number;
  window: { from: number; to: number } | undefined;
}

export function newRestore(around: RestoreSurroundings): RestoreSpec {
  const { random, destinationClusterName, fromBackup, source } = around;
  const isNamed = random.next() < 0.85;
  const agents = { count: 1, podTemplateSpec: agentTemplate("restore") };
  return {
    destinationClusterName,
    ...(isNamed
      ? { fromBackup, ...(random.next() < 0.3 ? { agents } : {}) }
      : {
          blobStoreConfiguration: {
            backupName: fromBackup,
            ...source.blobStoreConfiguration,
          } as RestoreSpec["blobStoreConfiguration"],
          agents,
        }),
    ...pointOf(around),
    ...rangesOf(around),
    ...(random.next() < 0.25 ? { deletionPolicy: "keep" as const } : {}),
  };
}

function pointOf({
  random,
  nowMs,
  window,
}: RestoreSurroundings): Pick<RestoreSpec, "to" | "backupVersion"> {
  const chance = random.next();
  const agoMs = randomInteger(random, 0, 1_200) * 1_000;
  if (chance < 0.35) return {};
  if (chance < 0.7) return { to: { time: new Date(nowMs - agoMs).toISOString() } };
  if (chance < 0.73) return { to: { time: new Date(nowMs + agoMs).toISOString() } };
  const { from, to } = window ?? { from: 1, to: 2 };
  const version = Math.floor(from + random.next() * (to - from));
  if (chance < 0.9) return { to: { version } };
  return { backupVersion: chance < 0.95 ? version : Math.max(0, from - 1_000_000_000) };
}

function rangesOf({ random, name, isBeside }: RestoreSurroundings): Partial<RestoreSpec> {
  const key = (): string => `k/${String(randomInteger(random, 0, 30)).padStart(2, "0")}`;
  const [start = "", end = ""] = [key(), key()].toSorted();
  const isPart = random.next() < 0.4 && start < end;
  const isMoved = random.next() < 0.15;
  const isPrefixed = isBeside || random.next() < 0.5;
  return {
    ...(isPart
      ? { keyRanges: [{ start, end }] }
      : isMoved
        ? { keyRanges: [{ start: "k/", end: "k/9" }] }
        : {}),
    ...(isMoved ? { removePrefix: "k/" } : {}),
    ...(isPrefixed || isMoved ? { addPrefix: `${name}/` } : {}),
  };
}
