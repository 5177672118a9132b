// Whether the operator itself spreads the process groups of a resource over data halls or datacenters: it does when the
// hall of a process comes from a label of its node. Carries the rules HALL1 and HALL2 of spec/halls.md.
import type { ClusterSpec } from "./cluster-spec.ts";
import { localityOf } from "./localities.ts";
import { redundancyOf } from "../model/redundancy.ts";

export interface HallSpread {
  readonly key: "data_hall" | "dcid";
  /** The label of a node that names its hall. */
  readonly topologyKey: string;
  /** The halls to use; the nodes decide when empty. */
  readonly values: readonly string[];
  /** How many halls there must be; undefined when the mode does not know halls. */
  readonly hallsNeeded: number | undefined;
}

const hallsOfMode = 3;

/** The locality of the mode comes first; a resource that is not in such a mode yet spreads over the one it names. */
export function hallSpreadOf(spec: ClusterSpec): HallSpread | undefined {
  const { spreadLocality } = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  const keys = spreadLocality === undefined ? hallKeys : [spreadLocality];
  for (const key of keys) {
    const locality = localityOf(spec, key);
    if (locality?.source !== "topologyKey") continue;
    const { topologyKey, values } = locality;
    const hallsNeeded = spreadLocality === undefined ? undefined : hallsOfMode;
    return { key, topologyKey, values, hallsNeeded };
  }
  return undefined;
}

const hallKeys = ["data_hall", "dcid"] as const;
