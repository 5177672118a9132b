// The page of a support bundle that a person reads first: how the cluster is, what is not well, what lies where and what
// was left out. Rule PIC34.
import type { Pod } from "../kube/generated/types.ts";
import { conditionIn } from "../kube/condition.ts";
import type { Stored } from "../kube/resource.ts";
import type { LeftOut, Picture } from "../preview/picture.ts";

export interface IndexInput {
  readonly picture: Picture;
  readonly explanation: string;
  readonly left: readonly LeftOut[];
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Values that were replaced by placeholders. */
  readonly count: number;
}

export function indexPage(input: IndexInput): string {
  const { cluster, takenAt, versions } = input.picture;
  const { namespace = "", name = "", generation } = cluster.metadata;
  const running = cluster.status?.runningVersion ?? "unknown";
  return [
    `# ${namespace}/${name}`,
    "",
    `Support bundle of a FoundationDB cluster, taken at ${takenAt}. FoundationDB ${cluster.spec.version} is wanted, ${running} runs; generation ${generation ?? "unknown"} of the resource.`,
    "",
    `Secrets were replaced: ${input.count} different values have a placeholder such as REDACTED1, the same one in all files. Look through it before you hand it on: a program may have written a secret into its log in a form that nobody can know.`,
    "",
    ...section("How it is", quoted(input.explanation)),
    ...section("Conditions", conditionRows(cluster)),
    ...section("Waits", waitRows(cluster)),
    ...section("Pods that are not ready", podRows(input.picture)),
    ...section(
      "Left out",
      table(
        ["what", "why"],
        input.left.map(({ what, why }) => [what, why]),
      ),
    ),
    ...section("Files", fileRows(input.files)),
    ...section("Versions", versionRows(versions)),
    "The folder `picture` is what `kubectl fdb preview --from BUNDLE.tar.gz` reads.",
    "",
  ].join("\n");
}

function section(title: string, lines: readonly string[]): string[] {
  return [`## ${title}`, "", ...(lines.length === 0 ? ["None."] : lines), ""];
}

/** A block in which nothing means anything to Markdown. */
function quoted(text: string): string[] {
  if (text.trim() === "") return [];
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `    ${line}`);
}

function conditionRows({ status }: Picture["cluster"]): string[] {
  const rows = (status?.conditions ?? []).map(
    ({ type, status: value, reason, message, lastTransitionTime }) => [
      ...[type, value, reason ?? "", lastTransitionTime ?? "", message],
    ],
  );
  return table(["condition", "is", "reason", "since", "message"], rows);
}

function waitRows({ status }: Picture["cluster"]): string[] {
  const rows = (status?.blockedBy ?? []).map(({ step, reason, since, message }) => [
    ...[step, reason, since ?? "", message],
  ]);
  return table(["step", "reason", "since", "message"], rows);
}

const podsShown = 50;

function podRows({ objects }: Picture): string[] {
  const pods = (objects.filter(({ kind }) => kind === "Pod") as Stored<Pod>[]).filter(
    ({ status }) => conditionIn(status, "Ready")?.status !== "True",
  );
  const rows = pods.slice(0, podsShown).map(({ metadata, spec, status }) => {
    const restarts = (status?.containerStatuses ?? []).map(({ restartCount }) => restartCount);
    const most = restarts.reduce((sum, count) => sum + count, 0);
    return [
      ...[metadata.name ?? "", status?.phase ?? "no status", spec?.nodeName ?? "none"],
      ...[String(most), status?.message ?? status?.reason ?? ""],
    ];
  });
  const more = pods.length > podsShown ? [`and ${pods.length - podsShown} more`] : [];
  return [...table(["pod", "phase", "node", "restarts", "message"], rows), ...more];
}

function fileRows(files: IndexInput["files"]): string[] {
  return table(
    ["file", "bytes"],
    files.map(({ path, text }) => [path, String(Buffer.byteLength(text))]),
  );
}

function versionRows({ plugin, operator, kubernetes }: Picture["versions"]): string[] {
  return table(
    ["what", "version"],
    [
      ["kubectl-fdb", plugin],
      ["operator", operator ?? "unknown"],
      ["Kubernetes", kubernetes ?? "unknown"],
    ],
  );
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)];
}

function cell(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[|<`]/g, String.raw`\$&`);
}
