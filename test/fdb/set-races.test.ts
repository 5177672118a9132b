// Random histories of instances that update the sets, move to another prefix and clear restart entries, all at
// once and with commits that go wrong.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bytesOfText, concatBytes } from "../../src/fdb/bytes.ts";
import { randomInteger, randomPick } from "../../src/env/random.ts";
import { readSets, updateSets } from "../../src/fdb/coordination-sets.ts";
import type { EntryUpdate, SetContents } from "../../src/fdb/coordination-sets.ts";
import { coordinationSets } from "../../src/fdb/keys.ts";
import type { CoordinationSet, SetEntry } from "../../src/fdb/keys.ts";
import { LockWatch, takeLock } from "../../src/fdb/lock.ts";
import { migratePrefix } from "../../src/fdb/prefix-migration.ts";
import { clearRestartEntries } from "../../src/fdb/restart-entries.ts";
import { startRace } from "./racing-instances.ts";
import type { Race } from "./racing-instances.ts";

const seeds = fc.integer({ min: 0, max: 1_000_000 });
const restartSets = ["pendingForRestart", "readyForRestart"] as const;

type Sets = Readonly<Record<CoordinationSet, SetContents>>;

/** Everything that an instance has in the sets, as one comparable text. */
function textOf(names: Iterable<string>): string {
  return [...names].toSorted().join(" ");
}

function namesOf(sets: Sets, prefix: string): string[] {
  return coordinationSets.flatMap((set) =>
    sets[set].entries
      .filter((entry) => entry.processGroupIdPrefix === prefix)
      .map((entry) => `${set}:${entry.processGroupId}`),
  );
}

/** Updates several random entries of several sets at once; `states` gets what is true after each update. */
async function updateAtRandom(race: Race, prefix: string, states: string[]): Promise<void> {
  const { random, shared } = race;
  const present = new Set<string>();
  for (let turn = 0; turn < 8; turn += 1) {
    await race.pause(200);
    const updates: Partial<Record<CoordinationSet, Map<string, EntryUpdate>>> = {};
    for (let count = randomInteger(random, 1, 5); count > 0; count -= 1) {
      const set = randomPick(random, coordinationSets);
      const id = `${prefix}-log-${randomInteger(random, 1, 3)}`;
      const isAdded = random.next() < 0.6;
      const targets =
        set === "readyForExclusion" || set === "readyForInclusion" ? ["10.1.0.1"] : [];
      updates[set] ??= new Map();
      updates[set].set(id, isAdded ? { action: "add", targets } : { action: "delete" });
      if (isAdded) present.add(`${set}:${id}`);
      else present.delete(`${set}:${id}`);
    }
    states.push(textOf(present));
    await updateSets(shared, prefix, updates);
  }
}

test("[SET10] every reader sees each instance between two of its updates", async () => {
  let faults = 0;
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const race = startRace(seed, { timeoutMs: 600_000 });
      const prefixes = ["dc1", "dc10", "dc2"];
      const states = new Map(prefixes.map((prefix) => [prefix, [""]]));
      const watch = async (): Promise<void> => {
        const seen = new Map(prefixes.map((prefix) => [prefix, 0]));
        for (let turn = 0; turn < 20; turn += 1) {
          await race.pause(150);
          const sets = await readSets(race.shared, coordinationSets);
          for (const prefix of prefixes) {
            const state = textOf(namesOf(sets, prefix));
            const at = (states.get(prefix) ?? []).indexOf(state, seen.get(prefix));
            assert.ok(at >= 0, `${prefix} was never in the state "${state}"`);
            seen.set(prefix, at);
          }
        }
      };
      const writers = prefixes.map((prefix) =>
        updateAtRandom(race, prefix, states.get(prefix) ?? []),
      );
      await race.run([...writers, watch()]);
      const ending = { sets: undefined as Sets | undefined };
      await race.run([
        readSets(race.shared, coordinationSets).then((sets) => {
          ending.sets = sets;
        }),
      ]);
      assert.ok(ending.sets);
      for (const prefix of prefixes) {
        assert.equal(textOf(namesOf(ending.sets, prefix)), states.get(prefix)?.at(-1));
      }
      faults += race.faults.count;
    }),
    { seed: 1, numRuns: 60 },
  );
  assert.ok(faults > 300, `${faults} faults`);
});

test("[SET23] while entries move, each is seen under exactly one prefix", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const race = startRace(seed, { timeoutMs: 600_000 });
      const { shared } = race;
      const ids = ["kube-log-1", "kube-log-2", "kube-storage-1"];
      const added = new Map(ids.map((id) => [id, { action: "add" } as const]));
      const updates = { pendingForRemoval: added, pendingForRestart: added };
      await race.run([updateSets(shared, "kube", updates)]);
      const groups = ids.map((id) => ({ processGroupIdPrefix: "kube", processGroupId: id }));
      const move = async (): Promise<void> => {
        await race.pause(200);
        await migratePrefix(shared, groups, "unicorn");
      };
      const prefixes = new Set<string>();
      const watch = async (): Promise<void> => {
        for (let turn = 0; turn < 10; turn += 1) {
          await race.pause(100);
          const sets = await readSets(shared, coordinationSets);
          const { entries } = sets.pendingForRestart;
          assert.deepEqual(entries, sets.pendingForRemoval.entries);
          assert.deepEqual(
            entries.map((entry) => entry.processGroupId),
            ids,
          );
          const now = new Set(entries.map((entry) => entry.processGroupIdPrefix));
          assert.equal(now.size, 1);
          for (const prefix of now) prefixes.add(prefix);
        }
      };
      // Two at once stand for an operator that was started again while its old transaction was under way.
      await race.run([move(), move(), watch(), watch()]);
      assert.ok([...prefixes].every((prefix) => prefix === "kube" || prefix === "unicorn"));
    }),
    { seed: 1, numRuns: 60 },
  );
});

/** What became of the one announcement of a process. */
interface Fate {
  readonly entry: SetEntry;
  isAnnounced: boolean;
  isWithdrawing: boolean;
  isWithdrawn: boolean;
  clearedCount: number;
  /** It was cleared while its announcement, committed but unanswered, was about to be tried again. */
  mayReappear: boolean;
}

/** Announces processes, each once, and takes some of them back. */
async function announceAtRandom(race: Race, prefix: string, fates: Map<string, Fate>) {
  const { random, shared } = race;
  const update = async (processGroupId: string, action: EntryUpdate["action"]): Promise<void> => {
    const updates = new Map([[processGroupId, { action }]]);
    await updateSets(shared, prefix, { pendingForRestart: updates, readyForRestart: updates });
  };
  for (let turn = 0; turn < 5; turn += 1) {
    const id = `${prefix}-log-${turn}`;
    const entry = { processGroupIdPrefix: prefix, processGroupId: id };
    const fate: Fate = {
      entry,
      isAnnounced: false,
      isWithdrawing: false,
      isWithdrawn: false,
      clearedCount: 0,
      mayReappear: false,
    };
    fates.set(id, fate);
    await race.pause(300);
    await update(id, "add");
    fate.isAnnounced = true;
    if (random.next() < 0.5) continue;
    await race.pause(300);
    fate.isWithdrawing = true;
    await update(id, "delete");
    fate.isWithdrawn = true;
  }
}

/** The holder looks, hesitates, and clears what it saw. */
async function clearAtRandom(race: Race, fates: ReadonlyMap<string, Fate>): Promise<number> {
  const { shared, clock } = race;
  const settings = { owner: "dc1", durationMs: 600_000, watch: new LockWatch() };
  let refusals = 0;
  for (let turn = 0; turn < 6; turn += 1) {
    const lease = await takeLock(shared, settings, clock);
    assert.ok(lease.isHeld);
    const { entries } = (await readSets(shared, restartSets)).readyForRestart;
    await race.pause(300);
    const seen = entries.map(({ processGroupId }) => fates.get(processGroupId));
    const isAnyGone = seen.some((fate) => fate?.isWithdrawn !== false);
    const outcome = await clearRestartEntries(shared, entries, lease, settings, clock);
    if (!outcome.isCleared) {
      assert.equal(outcome.reason, "withdrawn");
      refusals += 1;
      continue;
    }
    assert.equal(isAnyGone, false, "one of them was withdrawn before");
    for (const fate of seen) {
      if (fate === undefined) continue;
      fate.clearedCount += 1;
      fate.mayReappear ||= !fate.isAnnounced;
    }
  }
  return refusals;
}

test("[SET34] a restart entry goes by the hand of its instance or of the holder, who knows it", async () => {
  let [cleared, refused, reappeared] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const race = startRace(seed, { timeoutMs: 600_000 });
      const fates = new Map<string, Fate>();
      const holder = clearAtRandom(race, fates).then((refusals) => {
        refused += refusals;
      });
      const instances = ["dc1", "dc2", "dc3"].map((prefix) =>
        announceAtRandom(race, prefix, fates),
      );
      await race.run([...instances, holder]);
      for (const { entry, isWithdrawing, clearedCount, mayReappear } of fates.values()) {
        const key = race.shared.keys.setEntry("readyForRestart", entry);
        const isThere = race.store.dump(key, concatBytes(key, bytesOfText("\0"))).length === 1;
        const title = `${entry.processGroupId} with the seed ${seed}`;
        if (mayReappear) reappeared += 1;
        else assert.ok(clearedCount <= 1, `${title} was cleared twice`);
        if (!isThere && !isWithdrawing) assert.ok(clearedCount > 0, `${title} vanished`);
        if (isThere) assert.ok(mayReappear || (clearedCount === 0 && !isWithdrawing), title);
        cleared += clearedCount;
      }
    }),
    { seed: 1, numRuns: 100 },
  );
  const figures = `${cleared} cleared, ${refused} refused, ${reappeared} may have reappeared`;
  assert.ok(cleared > 300 && refused > 30 && reappeared < cleared / 10, figures);
});
