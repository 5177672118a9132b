// A whole Kubernetes cluster is cut off from the others: its pods run and its operator works, but nobody outside reaches
// them and they reach nobody. Carries rule MU9.
import { blockOf } from "../../emulator/address-block.ts";
import type { World } from "../world.ts";
import type { OperatorLinks } from "./operator-links.ts";

type Cuttable = Pick<World, "name" | "addressBlock" | "fdb">;

export function cutCluster({ name, addressBlock, fdb }: Cuttable, links: OperatorLinks): void {
  fdb.faults.cutNetwork(name, (ip) => blockOf(ip) === addressBlock);
  links.database.cut();
}

export function restoreCluster({ name, fdb }: Cuttable, links: OperatorLinks): void {
  fdb.faults.restoreNetwork(name);
  links.database.restore();
}
