// `kubectl fdb version`: the version of this plugin, and of each operator that is found. Rules: spec/plugin.md [PL10].
import { CommandError } from "../env/command-error.ts";
import { version } from "../env/program-version.ts";
import { isKubeError } from "../kube/error.ts";
import type { Deployment } from "../kube/generated/types.ts";
import { deployments } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { OutputForm } from "./flags.ts";
import { formatted, print } from "./print.ts";
import type { Session } from "./session.ts";

export interface VersionFlags {
  output: OutputForm;
  clientOnly?: boolean;
  operatorName?: string;
  containerName?: string;
}

interface OperatorVersion {
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  readonly version: string;
}

/** Of this operator, and of the one written in Go. */
const deploymentNames: readonly string[] = [
  "fdb-operator",
  "fdb-kubernetes-operator-controller-manager",
];
const containerNames: readonly string[] = ["operator", "manager"];

export async function runVersion(session: Session, flags: VersionFlags): Promise<void> {
  const found = await findOperators(session, flags.operatorName);
  const operators = found.flatMap((each) => versionOf(each, flags.containerName));
  const text = (): string => versionText("text", operators);
  print(session, flags.output, { plugin: version, operators }, text);
  if (operators.length > 0) return;
  const name = flags.operatorName ?? deploymentNames.join(" or ");
  const what = found.length === 0 ? `Deployment ${name}` : `such container in ${name}`;
  throw new CommandError(
    `there is no ${what} in namespace ${session.namespace}: name the operator's own with -n, --operator-name and --container-name, or ask for --client-only`,
  );
}

export function versionText(form: OutputForm, operators: readonly OperatorVersion[]): string {
  return formatted(form, { plugin: version, operators }, () =>
    [
      ...operators.map(
        ({ namespace, name, version: tag }) =>
          `foundationdb-operator: ${tag} (${namespace}/${name})`,
      ),
      `kubectl-fdb: ${version}`,
      "",
    ].join("\n"),
  );
}

/** In the namespace, else wherever there is one and we may look. */
export async function findOperators(
  { client, namespace, isNamespaceGiven }: Session,
  operatorName: string | undefined,
): Promise<Stored<Deployment>[]> {
  const isOperator = ({ metadata }: Stored<Deployment>): boolean => {
    const { name = "", labels = {} } = metadata;
    if (operatorName !== undefined) return name === operatorName;
    return (
      deploymentNames.includes(name) || labels["app.kubernetes.io/name"] === deploymentNames[0]
    );
  };
  const here = (await client.listAll(deployments, { namespace })).items.filter(isOperator);
  if (here.length > 0 || isNamespaceGiven) return here;
  try {
    return (await client.listAll(deployments)).items.filter(isOperator);
  } catch (error) {
    // Who may not look everywhere has looked into the one namespace.
    if (isKubeError(error, "Forbidden")) return [];
    throw error;
  }
}

function versionOf(
  { metadata, spec }: Stored<Deployment>,
  containerName: string | undefined,
): OperatorVersion[] {
  const names = containerName === undefined ? containerNames : [containerName];
  const container = spec?.template.spec?.containers.find(({ name }) => names.includes(name));
  if (container?.image === undefined) return [];
  const { image } = container;
  return [
    {
      namespace: metadata.namespace ?? "",
      name: metadata.name ?? "",
      image,
      version: tagOf(image),
    },
  ];
}

/** Neither the port of a registry nor a digest is a tag. */
export function tagOf(image: string): string {
  const [name = ""] = image.split("@");
  const last = name.slice(name.lastIndexOf("/") + 1);
  const colon = last.indexOf(":");
  if (colon >= 0) return last.slice(colon + 1);
  return image.includes("@") ? image.slice(image.indexOf("@") + 1) : "latest";
}
