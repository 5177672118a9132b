// The files that simulated servers keep in their data directories, for people and commands who look there: who the process
// is, its stores, and the coordinator's state, which can be copied to another directory while nobody uses it.
// Rules: spec/database.md [FDB63].
import type { VolumeFiles } from "../../pod/process-runtime.ts";
import { openDisk } from "./fabric.ts";
import type { CoordinatorRegister, Disk, Fabric } from "./fabric.ts";

const coordination = /^(?:(.*)\/)?coordination-([01])\.fdq$/;

export function dataFiles(fabric: Fabric, volumeId: string): VolumeFiles {
  const disks = (): Disk[] =>
    [...fabric.disks.values()].filter((disk) => disk.volumeId === volumeId);
  const all = (): [string, string][] => disks().flatMap((disk) => filesOf(disk));
  return {
    paths: () => all().map(([path]) => path),
    read(path) {
      const text = all().find(([known]) => known === path)?.[1];
      return text === undefined ? undefined : Buffer.from(text);
    },
    write(path, bytes) {
      const match = coordination.exec(path);
      if (match === null) return false;
      const disk = openDisk(fabric, volumeId, match[1] ?? "");
      disk.copiedState.set(Number(match[2]), Buffer.from(bytes).toString("utf8"));
      return true;
    },
    remove(path) {
      const match = coordination.exec(path);
      if (match === null) return false;
      const disk = disks().find((one) => one.path === (match[1] ?? ""));
      if (disk === undefined || stateFiles(disk).length === 0) return false;
      disk.copiedState.set(Number(match[2]), "");
      return true;
    },
  };
}

function filesOf(disk: Disk): [string, string][] {
  const inside = (name: string): string => (disk.path === "" ? name : `${disk.path}/${name}`);
  const stores = [
    ...[...disk.storage.keys()].map((id) => `storage-${id}.sqlite`),
    ...[...disk.logs].map((id) => `log-${id}.sqlite`),
  ];
  return [
    [inside("processId"), `${disk.processId}\n`],
    ...stores.toSorted().map((name): [string, string] => [inside(name), "simulated\n"]),
    ...stateFiles(disk).map(([name, text]): [string, string] => [inside(name), text]),
  ];
}

/** Only who was a coordinator has them. What was copied or removed counts from now on for who looks. */
function stateFiles(disk: Disk): [string, string][] {
  return [0, 1].flatMap((number) => {
    const own = disk.registers.size === 0 ? "" : stateText(disk);
    const text = disk.copiedState.get(number) ?? own;
    return text === "" ? [] : [[`coordination-${number}.fdq`, text]];
  });
}

function stateText({ registers }: Disk): string {
  return `${JSON.stringify({ registers: Object.fromEntries(registers) })}\n`;
}

/** A process that starts reads what lies there. A file without its counterpart is not understood and is left alone. */
export function readCopiedState(fabric: Fabric, disk: Disk): void {
  const [first, second] = [disk.copiedState.get(0), disk.copiedState.get(1)];
  if (first === undefined && second === undefined) return;
  disk.copiedState.clear();
  if (first !== second) {
    fabric.trace(`coordination files in ${disk.volumeId} do not belong together`);
    return;
  }
  disk.registers.clear();
  if (first === undefined || first === "") return;
  try {
    const { registers } = JSON.parse(first) as { registers: Record<string, CoordinatorRegister> };
    for (const [key, register] of Object.entries(registers)) disk.registers.set(key, register);
  } catch {
    fabric.trace(`coordination files in ${disk.volumeId} cannot be read`);
  }
}
