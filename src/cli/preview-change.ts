// Which change or fault the flags of `kubectl fdb preview` mean. Rules: spec/preview.md [PV6], [PV13].
import { customResourceOf } from "../api/crd.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import { applied, withPlaceholders } from "../preview/apply.ts";
import type { Change } from "../preview/change.ts";
import { setValue } from "../preview/set.ts";
import { nameList } from "../plan/wait.ts";
import { readDocuments } from "./documents.ts";
import type { SourceDocument } from "./documents.ts";

export interface ChangeFlags {
  file?: string;
  serverSide?: boolean;
  fieldManager?: string;
  forceConflicts?: boolean;
  set?: string[];
  upgrade?: string;
  loseNode?: string;
  loseZone?: string;
  drain?: string;
  from?: string;
}

export interface WantedChange {
  readonly change: Change;
  /** In words. */
  readonly text: string;
  /** What a person may not expect. */
  readonly warnings: readonly string[];
}

export async function changeOf(
  cluster: FoundationDBCluster,
  flags: ChangeFlags,
): Promise<WantedChange> {
  const { file, set = [], upgrade } = flags;
  const faults = faultsOf(flags);
  const isEdit = file !== undefined || set.length > 0 || upgrade !== undefined;
  const [first, ...more] = faults;
  if (more.length > 0 || (isEdit && first !== undefined)) {
    throw new UsageError("one fault, or one change of the resource, at a time");
  }
  if (file === undefined && flags.serverSide === true) {
    throw new UsageError("--server-side says how a file is applied: give -f FILE");
  }
  if (flags.serverSide !== true && (flags.fieldManager ?? flags.forceConflicts) !== undefined) {
    throw new UsageError("--field-manager and --force-conflicts belong to --server-side");
  }
  if (first !== undefined) return first;
  const edits = [...set, ...(upgrade === undefined ? [] : [`spec.version=${upgrade}`])];
  const text = [
    ...(file === undefined ? [] : [`apply ${file}`]),
    ...edits.map((edit) => `set ${edit}`),
  ].join(", ");
  const found = file === undefined ? undefined : await fromFile(file, cluster, flags);
  const edited = (object: FoundationDBCluster): FoundationDBCluster =>
    withEdits(object, edits, cluster);
  if (found !== undefined && flags.serverSide === true) {
    const { fieldManager = "kubectl", forceConflicts = false } = flags;
    const object = edited(found.object);
    const change: Change = { type: "applyServerSide", object, fieldManager, forceConflicts };
    return { change, text: `${text} server-side`, warnings: found.warnings };
  }
  const made = found === undefined ? { cluster, warnings: [] } : applied(cluster, found.object);
  const changed = edited(made.cluster);
  const { labels, annotations } = changed.metadata;
  return {
    change: {
      ...{ type: "apply", spec: changed.spec },
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    text: text === "" ? "no change" : text,
    warnings: [...made.warnings, ...(found?.warnings ?? [])],
  };
}

function faultsOf({ loseNode, loseZone, drain }: ChangeFlags): WantedChange[] {
  const fault = (change: Change, text: string): WantedChange => ({ change, text, warnings: [] });
  return [
    ...(loseNode === undefined
      ? []
      : [fault({ type: "loseNode", node: loseNode }, `node ${loseNode} is lost`)]),
    ...(loseZone === undefined
      ? []
      : [fault({ type: "loseZone", zone: loseZone }, `zone ${loseZone} is lost`)]),
    ...(drain === undefined
      ? []
      : [fault({ type: "drain", node: drain }, `node ${drain} is drained`)]),
  ];
}

function withEdits(
  object: FoundationDBCluster,
  edits: readonly string[],
  { apiVersion, kind }: FoundationDBCluster,
): FoundationDBCluster {
  const { schema = {} } = customResourceOf(apiVersion, kind) ?? {};
  return edits.reduce((changed, edit) => {
    const reading = setValue(changed, edit, schema);
    if ("problem" in reading) throw new UsageError(reading.problem);
    return reading.cluster;
  }, object);
}

async function fromFile(
  file: string,
  cluster: FoundationDBCluster,
  flags: ChangeFlags,
): Promise<{ object: FoundationDBCluster; warnings: readonly string[] }> {
  const documents = await readDocuments(file);
  const { name, namespace } = cluster.metadata;
  const isIt = ({ object: { kind, metadata } }: SourceDocument): boolean =>
    kind === cluster.kind &&
    metadata.name === name &&
    (metadata.namespace ?? namespace) === namespace;
  const [found, again] = documents.filter(isIt);
  if (found === undefined) {
    throw new CommandError(`${file} has no FoundationDBCluster ${namespace}/${name}`);
  }
  if (again !== undefined) {
    throw new CommandError(
      `${file} has FoundationDBCluster ${namespace}/${name} twice, in documents ${found.number} and ${again.number}: leave the one that is meant`,
    );
  }
  const besides = othersText(documents.filter((document) => document !== found));
  if (flags.serverSide === true && cluster.metadata.managedFields === undefined) {
    throw new CommandError(
      "--server-side needs to know who has set which field, and this picture has no managedFields: use the cluster itself, or leave --server-side out",
    );
  }
  const object = found.object as unknown as FoundationDBCluster;
  if (flags.from === undefined) return { object, warnings: besides };
  const { value, count } = withPlaceholders(object, cluster);
  const text = `${count} ${count === 1 ? "value is" : "values are"} secret in the picture, and counted as unchanged`;
  return { object: value, warnings: [...besides, ...(count === 0 ? [] : [text])] };
}

/** A preview is of one cluster: what else would be applied with it is named. */
function othersText(others: readonly SourceDocument[]): string[] {
  const names = others.map(({ object: { kind, metadata } }) => `${kind} ${metadata.name ?? ""}`);
  if (names.length === 0) return [];
  return [`only this cluster is previewed; the text also has ${nameList(names)}`];
}
