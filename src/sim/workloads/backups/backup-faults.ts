// What goes wrong around backups: the store in all its ways, agents, commands, the map of times, and people who pause agents
// by hand or wipe the status of a restore. Rules: spec/world.md [W135].
import { foundationDbRestores } from "../../../api/restore.ts";
import { randomPick } from "../../../env/random.ts";
import { setAgentsPaused } from "../../../fdb/backup-layer.ts";
import { keyOf } from "../../../kube/path.ts";
import { configMaps, deployments, nodes, pods } from "../../../kube/resource.ts";
import type { KubeObject } from "../../../kube/object.ts";
import type { Resource } from "../../../kube/resource.ts";
import type { StoreTrouble } from "../../backup/object-store.ts";
import { ignoringRaces } from "../../faults/chaos-target.ts";
import type { LifeFault } from "../life-faults.ts";
import { namespace } from "../life-terms.ts";
import type { LifeScene } from "../life-scene.ts";
import { commandForLabel } from "./command-watch.ts";
import type { BackupFaultName } from "./backup-fault-names.ts";

export const backupFaults: Readonly<Record<BackupFaultName, LifeFault>> = {
  "slow-store": store({ extraLatencyMs: 3_000 }, { extraLatencyMs: 0 }),
  "failing-store": store({ isFailing: true }, { isFailing: false }),
  "full-store": store({ isFull: true }, { isFull: false }),
  "unreachable-store": store({ isUnreachable: true }, { isUnreachable: false }),
  "hanging-store": store({ isHanging: true }, { isHanging: false }),
  "skewed-store": store({ isSkewed: true }, { isSkewed: false }),
  "wrong-secret": wrongSecret,
  "dead-agents": deleteSome(pods, "foundationdb.org/deployment-name", 2),
  "lost-deployment": deleteSome(deployments, "", 1),
  "lost-command": deleteSome(pods, commandForLabel, 1, ({ backups }, name) =>
    backups?.watch.commands.noteLost(name),
  ),
  "no-room": noRoom,
  "lost-times": times(async (life, key) => void (await life.world.client.delete(configMaps, key))),
  "spoilt-times": times(async (life, key) => {
    const data = { times: "nonsense\n2026-13-45T00:00:00Z 5", more: "x" };
    await life.world.client.patch(configMaps, key, { data }, { type: "merge" });
  }),
  "paused-by-hand": pausedByHand,
  "wiped-restore": wipedRestore,
};

function store(trouble: Partial<StoreTrouble>, end: Partial<StoreTrouble>): LifeFault {
  return async ({ backups }) => {
    if (backups === undefined) return undefined;
    backups.store.fail(trouble);
    return { told: JSON.stringify(trouble), end: async () => backups.store.fail(end) };
  };
}

/** The store takes another secret than the one that agents have. */
async function wrongSecret({ backups }: LifeScene): ReturnType<LifeFault> {
  const secret = backups?.store.accounts.get("KEY");
  if (backups === undefined || secret === undefined) return undefined;
  backups.store.accounts.set("KEY", "changed");
  return {
    told: "",
    end: async () => void backups.store.accounts.set("KEY", secret),
  };
}

function deleteSome<T extends KubeObject>(
  resource: Resource<T>,
  labelSelector: string,
  most: number,
  note: (life: LifeScene, name: string) => void = () => {},
): LifeFault {
  return async (life) => {
    const {
      world: { client },
      random,
    } = life;
    const given = labelSelector === "" ? {} : { labelSelector };
    const left = (await client.list(resource, { namespace, ...given })).items;
    const gone: string[] = [];
    while (gone.length < most && left.length > 0) {
      const [chosen] = left.splice(left.indexOf(randomPick(random, left)), 1);
      if (chosen === undefined) break;
      await ignoringRaces(() => client.delete(resource, keyOf(chosen)));
      const { name = "" } = chosen.metadata;
      note(life, name);
      gone.push(name);
    }
    return gone.length === 0 ? undefined : { told: gone.join(" ") };
  };
}

const taintKey = "walk.foundationdb.org/no-room";

/** New pods, of commands too, find no node. */
async function noRoom({ world: { client } }: LifeScene): ReturnType<LifeFault> {
  const change = async (isTainted: boolean): Promise<void> => {
    for (const { metadata, spec } of (await client.list(nodes)).items) {
      const others = (spec?.taints ?? []).filter(({ key }) => key !== taintKey);
      const taints = isTainted ? [...others, { key: taintKey, effect: "NoSchedule" }] : others;
      const patch = { spec: { taints: taints.length === 0 ? null : taints } };
      const key = { name: metadata.name ?? "" };
      await ignoringRaces(() => client.patch(nodes, key, patch, { type: "merge" }));
    }
  };
  await change(true);
  return { told: "", end: () => change(false) };
}

function times(
  act: (life: LifeScene, key: { namespace: string; name: string }) => Promise<void>,
): LifeFault {
  return async (life) => {
    const { items } = await life.world.client.list(configMaps, { namespace });
    const names = items.flatMap(({ metadata }) => metadata.name ?? []);
    const found = names.filter((name) => name.endsWith("-timeline"));
    if (found.length === 0) return undefined;
    const name = randomPick(life.random, found);
    await ignoringRaces(() => act(life, { namespace, name }));
    return { told: name };
  };
}

/** The operator makes it what the resources say, if there is one that has a say. */
async function pausedByHand(life: LifeScene): ReturnType<LifeFault> {
  const { backups } = life;
  if (backups === undefined || (await backups.backups()).length === 0) return undefined;
  const admin = await life.openAdmin();
  try {
    await setAgentsPaused(admin, true, 5_000);
    return { told: "" };
  } catch {
    // A database that does not answer is left alone.
    return undefined;
  } finally {
    admin.close();
  }
}

/** What was started is known by the database, too. */
async function wipedRestore(life: LifeScene): ReturnType<LifeFault> {
  const { items } = await life.world.client.list(foundationDbRestores, { namespace });
  if (items.length === 0) return undefined;
  const chosen = randomPick(life.random, items);
  await ignoringRaces(() =>
    life.world.client.updateStatus(foundationDbRestores, { ...chosen, status: {} }),
  );
  return { told: `${chosen.metadata.name ?? ""} ${chosen.status?.state ?? ""}` };
}
