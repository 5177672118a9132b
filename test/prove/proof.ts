// One proof: a command that ends with code 0 when what it says is so, what it needs, and which lines of its output are
// its figures. Rules: spec/proof.md [PROVE2], [PROVE3].
import type { Machine } from "./machine.ts";

export type Need =
  | "foundationdb"
  | "two-versions"
  | "backup-tools"
  | "object-store"
  | "control-plane";

export interface Proof {
  /** As `--only` takes it. */
  readonly name: string;
  readonly half: "simulated" | "real";
  /** What is proven, as a sentence without its full stop. */
  readonly what: string;
  readonly needs: readonly Need[];
  readonly limitMinutes: number;
  /** A program of this project and its arguments. */
  readonly command: readonly string[];
  /** Lines of the output that have this are figures, without what it matches at their beginning. */
  readonly figure: RegExp;
}

/** What is missing for a proof on this machine; undefined when nothing is. */
export function lackOf({ needs }: Proof, machine: Machine): string | undefined {
  const lacks = needs.flatMap((need) => lackOfNeed(need, machine) ?? []);
  return lacks[0];
}

function lackOfNeed(need: Need, machine: Machine): string | undefined {
  switch (need) {
    case "foundationdb":
      return machine.versions.length > 0
        ? undefined
        : `FoundationDB is not installed. ${machine.missing}`;
    case "two-versions":
      return machine.versions.length > 1
        ? undefined
        : `two versions of FoundationDB are needed, and there is ${machine.versions.join(", ") || "none"}: a folder for each version below FDB_BINARY_DIR and FDB_LIBRARY_DIR`;
    case "backup-tools":
      return machine.hasBackupTools
        ? undefined
        : "fdbbackup, fdbrestore and backup_agent are missing: put them beside fdbserver";
    case "object-store":
      return machine.hasObjectStore
        ? undefined
        : "there is no S3 server, and no Go 1.26 to build one with";
    case "control-plane":
      return machine.hasControlPlane
        ? undefined
        : "there is no Kubernetes control plane: install Go 1.26 or newer to build one, or set KUBEBUILDER_ASSETS";
  }
}
