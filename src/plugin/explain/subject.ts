// What a person names on the command line: a cluster, a backup or a restore, as kubectl writes it. Rules: spec/explain.md [E25].
import { UsageError } from "../../env/command-error.ts";

export interface Subject {
  readonly kind: "cluster" | "backup" | "restore";
  readonly name: string;
}

/** All names of a kind that kubectl knows, and the plain one. */
const kinds: readonly (readonly [Subject["kind"], RegExp])[] = [
  ["cluster", /^(?:clusters?|fdb|foundationdbclusters?)$/i],
  ["backup", /^(?:backups?|fdbbackup|foundationdbbackups?)$/i],
  ["restore", /^(?:restores?|fdbrestore|foundationdbrestores?)$/i],
];

export function subjectOf(text: string, without: Subject["kind"] = "cluster"): Subject {
  const slash = text.indexOf("/");
  if (slash < 0) return { kind: without, name: text };
  // `kubectl get -o name` prints the group, too.
  const plural = text.slice(0, slash).replace(/(?:\.v1beta2)?\.apps\.foundationdb\.org$/i, "");
  const name = text.slice(slash + 1);
  const kind = kinds.find(([, names]) => names.test(plural))?.[0];
  if (kind !== undefined && name !== "" && !name.includes("/")) return { kind, name };
  throw new UsageError(
    `"${text}" names nothing: write the name of a cluster, backup/NAME or restore/NAME`,
  );
}
