// Which part of the CPU time is the operator's and not the emulated world's. Both run in one thread
// and call each other, so a sampling profile decides: the innermost frame that belongs to one.
import { Session } from "node:inspector/promises";
import type { Profiler } from "node:inspector";

const operatorFrame = /\/src\/(operate|plan|build)\//;
const worldFrame = /\/src\/(emulator|sim)\//;
const samplingIntervalMicroseconds = 1000;

/** Runs `work` under the profiler; the share is 0 to 1, of the samples that belong to one. */
export async function withOperatorShare<T>(
  work: () => Promise<T>,
): Promise<{ result: T; share: number }> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: samplingIntervalMicroseconds });
    await session.post("Profiler.start");
    const result = await work();
    const { profile } = await session.post("Profiler.stop");
    return { result, share: operatorShare(profile) };
  } finally {
    session.disconnect();
  }
}

function operatorShare(profile: Profiler.Profile): number {
  const owners = ownersOf(profile);
  let operator = 0;
  let world = 0;
  (profile.samples ?? []).forEach((id, index) => {
    const microseconds = profile.timeDeltas?.[index] ?? 0;
    const owner = owners.get(id);
    if (owner === "operator") operator += microseconds;
    if (owner === "world") world += microseconds;
  });
  return operator + world === 0 ? 0 : operator / (operator + world);
}

type Owner = "operator" | "world" | undefined;

/** A frame without an owner of its own (the Kubernetes client, Node itself) has its caller's. */
function ownersOf(profile: Profiler.Profile): Map<number, Owner> {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const owners = new Map<number, Owner>();
  const [root] = profile.nodes;
  const open: [id: number, inherited: Owner][] = root === undefined ? [] : [[root.id, undefined]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [id, inherited] = next;
    const node = nodes.get(id);
    const url = node?.callFrame.url ?? "";
    const own = operatorFrame.test(url) ? "operator" : worldFrame.test(url) ? "world" : inherited;
    owners.set(id, own);
    for (const child of node?.children ?? []) open.push([child, own]);
  }
  return owners;
}
