// Everything that a step of a life can do: wishes of the cluster's owner, troubles, acts of people, deaths of the
// operator. What an act draws, it draws from the generator of its step. Rules: spec/world.md [W66], [W67], [W98].
import { randomInteger, randomPick } from "../../env/random.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Trouble } from "../faults/chaos.ts";
import { anyBackupAct, backupAct } from "./backups/backup-acts.ts";
import { actAsHuman, humanActs, takeForeignLock } from "./human-acts.ts";
import type { HumanAct } from "./human-acts.ts";
import type { LifeAct } from "./life-plan.ts";
import { hourMs, minuteMs } from "./life-terms.ts";
import type { LifeScene } from "./life-scene.ts";
import { loseAllButDisks } from "./lost-cluster.ts";
import { absurdSpecs, isWishOfAll, makeWish, takenBack, wishNames } from "./spec-changes.ts";

const peacefulTroubles: readonly Trouble[] = [
  "bad road",
  "good road",
  "slow database",
  "quick database",
  "compact history",
  "restart operator",
];

const podTroubles: readonly Trouble[] = [
  "delete pod",
  "delete several pods",
  "kill pod without grace",
  "evict pod",
  "crash processes",
  "stop node",
  "start node",
  "remove node",
  "cut network",
  "heal network",
  "lose volume claim",
  "delete claims in use",
  "cordon node",
  "uncordon nodes",
];

export const lifeActs: Readonly<Record<LifeAct, (life: LifeScene) => Promise<void>>> = {
  wish,
  crash,
  person: (life) => humanAct(life, randomPick(life.random, humanActs)),
  "foreign lock": foreignLock,
  "take back": takeBack,
  "absurd wish": absurdWish,
  clock: stepClock,
  "bad knob": badKnob,
  trouble,
  "all but the disks": loseAllButDisks,
  "a backup": (life) => backupAct(life, "a backup"),
  "another wish of a backup": (life) => backupAct(life, "another wish of a backup"),
  "two wishes of a backup": (life) => backupAct(life, "two wishes of a backup"),
  "the end of a backup": (life) => backupAct(life, "the end of a backup"),
  "a restore": (life) => backupAct(life, "a restore"),
  "the end of a restore": (life) => backupAct(life, "the end of a restore"),
  "a loss": (life) => backupAct(life, "a loss"),
  "another copy": (life) => backupAct(life, "another copy"),
};

async function wish(life: LifeScene): Promise<void> {
  const { name } = randomPick(life.random, life.shape.members);
  const cluster = await life.cluster(name);
  const groups = cluster.status?.processGroups ?? [];
  const chosen = randomPick(life.random, wishNames);
  const change = makeWish(chosen, {
    random: life.random,
    name,
    spec: cluster.spec,
    shape: life.shape,
    processGroupIds: groups
      .filter((group) => group.removalTimestamp === undefined)
      .map((group) => group.processGroupID),
  });
  const isOfAll = isWishOfAll(chosen);
  life.note(`wish: ${chosen}${isOfAll ? "" : ` of ${name}`} ${JSON.stringify(change)}`);
  const names = isOfAll ? life.shape.members.map((member) => member.name) : [name];
  life.lastWish = { names, back: takenBack(change, cluster.spec) };
  if ("version" in change) life.versions.push(String(change.version));
  for (const each of names) await life.patch(each, change);
}

/** A wish is taken back at any moment of its being carried out, often at once. */
async function takeBack(life: LifeScene): Promise<void> {
  if (life.random.next() < 0.7) {
    await wish(life);
    await life.advance(randomPick(life.random, [0, 200, 2_000, 8_000, 20_000, 60_000]));
  }
  if (life.lastWish === undefined) return;
  const { names, back } = life.lastWish;
  life.note(`taken back: ${JSON.stringify(back)}`);
  for (const name of names) await life.patch(name, back);
  life.lastWish = undefined;
}

/** Somebody sets the clock of the operator's machine forward. */
async function stepClock(life: LifeScene): Promise<void> {
  const byMs = randomPick(life.random, [10_000, 10 * minuteMs, hourMs]);
  life.note(`the operator's clock is set forward by ${byMs / 1000} s`);
  life.operatorClock.step(byMs);
}

/** The server refuses it, or the operator does; both leave what runs alone, and it is taken back. */
async function absurdWish(life: LifeScene): Promise<void> {
  const { name } = randomPick(life.random, life.shape.members);
  const { spec } = await life.cluster(name);
  const change = randomPick(life.random, absurdSpecs);
  const isRefused = await life.patch(name, change).then(
    () => false,
    (error: unknown) => {
      if (isKubeError(error, "Invalid")) return true;
      throw error;
    },
  );
  life.note(`absurd: ${JSON.stringify(change)} ${isRefused ? "refused" : "stored"}`);
  if (isRefused) return;
  await life.advance(randomPick(life.random, [1_000, 30_000, 120_000]));
  await life.patch(name, takenBack(change, spec));
}

/** Whatever starts with it ends at once, so it is corrected after a while. */
async function badKnob(life: LifeScene): Promise<void> {
  const { name } = randomPick(life.random, life.shape.members);
  const { spec, status } = await life.cluster(name);
  // Nobody tries it alone there, nor while all processes change to another version together.
  const isSingle = spec.databaseConfiguration?.redundancy_mode === "single";
  const isGlobal = spec.automationOptions?.synchronizationMode === "global";
  if (isSingle || isGlobal || status?.runningVersion !== spec.version) return;
  const value = randomInteger(life.random, 1, 9);
  const change = parameters(`knob_max_trace_lines=${value}`, "knob_cache_eviction_policy=fifo");
  life.note(`a knob that ends fdbserver, of ${name}`);
  await life.patch(name, change);
  await life.advance(randomPick(life.random, [5_000, 30_000, 240_000, 900_000]));
  const isCorrected = life.random.next() < 0.5;
  const back = isCorrected
    ? parameters(`knob_max_trace_lines=${value}`, "knob_cache_eviction_policy=lru")
    : takenBack(change, spec);
  life.note(`the knob is ${isCorrected ? "corrected" : "taken back"}`);
  await life.patch(name, back);
}

function parameters(...customParameters: string[]): object {
  return { processes: { general: { customParameters } } };
}

/** The operator dies at one of its next writes, and another takes its place. */
async function crash(scene: LifeScene): Promise<void> {
  const { random, clock, links } = scene;
  const moment = randomPick(random, ["before", "after"] as const);
  const write = randomInteger(random, 1, 40);
  const { life } = links;
  life.dieAt({ write, moment });
  // A cluster at rest has nothing to write, so something is asked for first.
  const isOfBackup = scene.backups !== undefined && random.next() < 0.6;
  await (isOfBackup ? anyBackupAct(scene) : wish(scene));
  const untilMs = clock.nowMs() + 2 * minuteMs;
  while (!life.isDead && clock.nowMs() < untilMs) {
    const stepMs = clock.nowMs() + 5_000;
    await clock.run({ until: () => life.isDead, untilMs: Math.min(stepMs, untilMs) });
    scene.watchman.look();
  }
  const how = life.isDead ? `${moment} write ${write}` : "between writes";
  scene.note(`the operator dies ${how}`);
  life.die();
  await scene.during(scene.world.stopOperator(), "the end of the operator");
  await scene.advance(randomPick(random, [0, 1_000, 20_000]));
  scene.world.startOperator();
}

/** Only with locks in use does the operator ask whose turn it is. */
async function foreignLock(life: LifeScene): Promise<void> {
  const { spec } = await life.cluster();
  if (spec.lockOptions?.disableLocks !== false) return;
  const admin = await life.openAdmin();
  const durationMs = randomPick(life.random, [30_000, 120_000, 300_000]);
  const taking = takeForeignLock(admin, life.clock, durationMs);
  const untilMs = await life.during(taking, "somebody else's lock");
  admin.close();
  if (untilMs !== undefined) life.watchman.foreignLockUntilMs = untilMs;
  life.note(`an operator elsewhere ${untilMs === undefined ? "gets no lock" : "has the lock"}`);
  await wish(life);
}

export async function humanAct(life: LifeScene, act: HumanAct): Promise<void> {
  if (act === "coordinators" && !life.shape.isCalm) return;
  const admin = await life.openAdmin();
  life.watchman.noteDisturbance();
  const done = await life.during(actAsHuman(act, admin, life.random), "a person's act");
  admin.close();
  if (act === "exclude") life.watchman.buckets.noteExclusion(done);
  life.note(`person: ${act} ${done}`);
}

async function trouble(life: LifeScene): Promise<void> {
  const kinds = life.shape.isCalm ? peacefulTroubles : [...peacefulTroubles, ...podTroubles];
  const chosen = randomPick(life.random, kinds);
  if (podTroubles.includes(chosen)) life.watchman.noteDisturbance();
  const hit = await life.during(life.chaos.make(chosen), chosen);
  life.note(`trouble: ${chosen} ${hit}`);
}
