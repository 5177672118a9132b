// A cluster changes its version, and goes back where both versions speak one protocol. Rules: spec/real-database.md [DB85].
import assert from "node:assert/strict";
import { isProtocolCompatible, parseVersion } from "../../src/model/version.ts";
import { changeSpec, clusterOf, processesOf, until, untilAtRest } from "./life-target.ts";
import type { LifeCase, LifeTarget } from "./life-target.ts";

/** Pods are made anew with the new image afterwards, one fault domain after the other. */
const patienceSeconds = 900;

/** For a cluster that runs `from`. */
export function upgradeCase(from: string, to: string): LifeCase {
  const [older, newer] = [parseVersion(from), parseVersion(to)];
  assert.ok(older !== undefined && newer !== undefined, `${from} or ${to} is no version`);
  const isBack = isProtocolCompatible(older, newer);
  return {
    title: `[DB85] an upgrade from ${from} to ${to}${isBack ? ", and back" : ""}`,
    beginning: { specOf: (sample) => ({ ...sample, version: from }) },
    async run(target) {
      for (const version of isBack ? [to, from] : [to]) await changeVersion(target, version);
    },
  };
}

async function changeVersion(target: LifeTarget, version: string): Promise<void> {
  await changeSpec(target, { version });
  await until(target, `${version} runs`, async () => {
    return (await clusterOf(target)).status?.runningVersion === version;
  });
  // A client of the version before is not answered by servers of another protocol.
  await target.reopen();
  const rested = await untilAtRest(target, () => {}, patienceSeconds);
  for (const each of processesOf(rested)) {
    assert.equal(each.version, version, each.address);
  }
}
