// A pod that runs one command of FoundationDB's backup tools, made from the template of the agents, so that credentials stay
// where the user put them. Its name is fixed by backup, command, what it is for and attempt: it cannot be made twice.
// Carries the rules BK10 to BK13 of spec/backup.md.
import { createHash } from "node:crypto";
import type { FoundationDBBackup } from "../api/backup.ts";
import type { Container, Pod, PodTemplateSpec } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { agentTemplate } from "./backup-agent.ts";
import type { BackupCommand, CommandType } from "./backup-command.ts";
import { ownerReferenceTo } from "./labels.ts";
import { initContainerName, mainContainerName } from "./normalise.ts";
import { built } from "./problem.ts";
import type { Built } from "./problem.ts";

/** On a command pod: the uid of its backup. */
export const commandForLabel = "foundationdb.org/backup-command-for";
const commandLabel = "foundationdb.org/backup-command";
const purposeAnnotation = "foundationdb.org/backup-command-purpose";
const attemptAnnotation = "foundationdb.org/backup-command-attempt";

/** A tool that gets no answer often waits for ever. The times leave room for pulling an image. */
const deadlineSeconds: Readonly<Record<CommandType, number>> = {
  start: 300,
  modify: 300,
  discontinue: 300,
  abort: 300,
  describe: 300,
  expire: 3_600,
  delete: 3_600,
};

/** A restore reads the list of all files of the backup before it is submitted. */
const restoreStartSeconds = 900;

function deadlineOf({ program, type }: BackupCommand): number {
  const isRestoreStart = program === "fdbrestore" && type === "start";
  return isRestoreStart ? restoreStartSeconds : deadlineSeconds[type];
}

/** Far less than an agent needs. */
const resources = {
  requests: { cpu: "100m", memory: "256Mi" },
  limits: { cpu: "1", memory: "1Gi" },
};

export function commandPod(
  backup: FoundationDBBackup,
  command: BackupCommand,
  attempt: number,
  clusterLabelKeys: readonly string[],
): Built<Stored<Pod>> {
  const made = agentTemplate(backup);
  if (!made.ok) return made;
  const template = made.value;
  const { name = "", namespace = "", uid = "" } = backup.metadata;
  const purpose = purposeOf(command);
  return built({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: podNameOf(name, `${command.type}-${purpose}-${attempt}`),
      namespace,
      labels: {
        ...ownLabels(template, clusterLabelKeys),
        [commandForLabel]: uid,
        [commandLabel]: command.type,
      },
      annotations: {
        ...template.metadata?.annotations,
        [purposeAnnotation]: purpose,
        [attemptAnnotation]: String(attempt),
      },
      ownerReferences: [ownerReferenceTo(backup)],
    },
    spec: commandSpec(template, command),
  });
}

/** What the labels and annotations of a command pod say. */
export interface CommandIdentity {
  readonly type: string;
  readonly purpose: string;
  readonly attempt: number;
}

export function commandIdentity({ metadata }: Stored<Pod>): CommandIdentity {
  const { labels = {}, annotations = {} } = metadata;
  return {
    type: labels[commandLabel] ?? "",
    purpose: annotations[purposeAnnotation] ?? "",
    attempt: Number(annotations[attemptAnnotation] ?? 0) || 0,
  };
}

/** The tool that runs in a command pod. */
export function programOf(pod: Stored<Pod>): string {
  return mainOf(pod)?.command?.[0] ?? "";
}

export function argumentsOf(pod: Stored<Pod>): readonly string[] {
  return mainOf(pod)?.args ?? [];
}

function mainOf({ spec }: Stored<Pod>): Container | undefined {
  return spec?.containers.find(({ name }) => name === mainContainerName);
}

/** The same for the same wish in the same state of the database. */
export function purposeOf({ type, args, context, isSameWithOthers }: BackupCommand): string {
  const text = JSON.stringify([type, isSameWithOthers === true ? [] : args, context]);
  return createHash("sha256").update(text).digest("hex").slice(0, 10);
}

const nameLengthMax = 253;

function podNameOf(backupName: string, rest: string): string {
  return `${backupName.slice(0, nameLengthMax - rest.length - 1).replace(/[.-]+$/, "")}-${rest}`;
}

/** Labels of the user stay, as some clouds give an identity by label; none by which others find pods of the database. */
function ownLabels(
  { metadata }: PodTemplateSpec,
  clusterLabelKeys: readonly string[],
): Record<string, string> {
  const given = Object.entries(metadata?.labels ?? {});
  return Object.fromEntries(
    given.filter(
      ([key]) => !key.startsWith("foundationdb.org/") && !clusterLabelKeys.includes(key),
    ),
  );
}

function commandSpec(template: PodTemplateSpec, command: BackupCommand): NonNullable<Pod["spec"]> {
  const { containers = [], initContainers = [], volumes = [], ...rest } = template.spec ?? {};
  // Without a database there may be no cluster file either.
  const isNeeded = (name: string): boolean => command.needsDatabase || name !== initContainerName;
  const inits = initContainers.filter(({ name }) => isNeeded(name));
  return {
    ...rest,
    containers: containers.map((container) =>
      container.name === mainContainerName ? commandContainer(container, command) : container,
    ),
    ...(inits.length === 0 ? {} : { initContainers: inits }),
    volumes: volumes.filter(({ name }) => command.needsDatabase || name !== "config-map"),
    restartPolicy: "Never",
    activeDeadlineSeconds: deadlineOf(command),
  };
}

/** The command is the program itself: an image need not have a shell. */
function commandContainer(container: Container, command: BackupCommand): Container {
  const { livenessProbe: _l, readinessProbe: _r, startupProbe: _s, ...rest } = container;
  return {
    ...rest,
    command: [command.program],
    args: [...command.args],
    resources,
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}

/** The place in the store that the command of a pod goes to; it may hold a secret. */
export function destinationOf({ spec }: Stored<Pod>): string {
  const { args = [] } = spec?.containers.find(({ name }) => name === mainContainerName) ?? {};
  const index = args.indexOf("-d");
  return index < 0 ? "" : (args[index + 1] ?? "");
}
