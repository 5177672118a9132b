// What the worlds with logical fault domains look at: where the pods of each domain run, and who shares a host.
import { strict as assert } from "node:assert";
import { isLogProcess, isStateful } from "../../src/model/process-class.ts";
import { groups } from "./removal-harness.ts";
import type { TestWorld } from "./world-harness.ts";

const classLabel = "foundationdb.org/fdb-process-class";
const keyLabel = "foundationdb.org/distribution-key";

/** Members of every logical fault domain that stay; those that are not packed are counted as "". */
export async function domainSizes(
  world: TestWorld,
  processClass: string,
): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const group of await groups(world, processClass)) {
    if (group.removalTimestamp !== undefined) continue;
    const key = group.distributionKey ?? "";
    sizes[key] = (sizes[key] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(sizes).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** No host carries two domains of one class that keeps data, packed and unpacked pods count as different domains. */
export async function assertNoSharedHost(world: TestWorld): Promise<void> {
  const domains = new Map<string, Set<string>>();
  for (const { metadata, spec } of await world.pods()) {
    const processClass = metadata.labels?.[classLabel] ?? "";
    const node = spec?.nodeName ?? "";
    if (!isStateful(processClass) || node === "") continue;
    const place = `${isLogProcess(processClass) ? "log" : processClass} on ${node}`;
    const key = metadata.labels?.[keyLabel] ?? "none";
    domains.set(place, (domains.get(place) ?? new Set()).add(key));
  }
  for (const [place, found] of domains) {
    assert.equal(found.size, 1, `${place}: ${[...found].join(", ")}`);
  }
}

/** Every packed process group has its domain as label, as zone in the database and as fault domain in the status. */
export async function assertZones(world: TestWorld): Promise<void> {
  const pods = new Map(
    (await world.pods()).map((pod) => [
      pod.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "",
      pod.metadata.labels?.[keyLabel] ?? "",
    ]),
  );
  for (const { processGroupID: id, distributionKey, faultDomain } of await groups(world)) {
    assert.equal(pods.get(id), distributionKey ?? "", id);
    if (distributionKey !== undefined) assert.equal(faultDomain, distributionKey, id);
  }
}
