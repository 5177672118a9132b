// The wish for a NetworkPolicy: peers that the API server would refuse in a policy, and wishes that would cut the database in
// two. Rules: spec/network.md [NET20]-[NET22].
import type { LabelSelector, NetworkPolicyPeer } from "../kube/generated/types.ts";
import { isInsideBlock, parseIpBlock } from "../model/ip-block.ts";
import type { ClusterSpec } from "./cluster-spec.ts";
import { isGlobalMode, sharesDatabase } from "./effective.ts";
import { isLabelKey, isLabelValue, labelKeyMessage, labelValueMessage } from "./label-syntax.ts";
import { networkPeerLists } from "./network-policy.ts";
import { problem, type ValidationProblem } from "./problem.ts";

const path = "spec.networkPolicy";

export function networkPolicyProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  const wish = spec.networkPolicy;
  if (wish === undefined) return [];
  return [
    ...networkPeerLists.flatMap((list) =>
      (wish[list] ?? []).flatMap((peer, index) => peerProblems(peer, `${path}.${list}[${index}]`)),
    ),
    ...(wish.enabled === true ? [...hostNetworkProblems(spec), ...sharedProblems(spec)] : []),
  ];
}

/** Pods in the network of their node are under no policy, and come to others from the address of the node. */
function hostNetworkProblems({ processes = {} }: ClusterSpec): readonly ValidationProblem[] {
  return Object.entries(processes).flatMap(([name, { podTemplate }]) => {
    if (podTemplate?.spec?.hostNetwork !== true) return [];
    const field = `spec.processes.${name}.podTemplate.spec.hostNetwork`;
    const message = "no network policy holds for pods in the network of their nodes";
    return [problem(field, true, message, `set ${path}.enabled to false, or hostNetwork`)];
  });
}

/** Nobody sees those parts before they come, and then it is too late: an empty list says that there are none. */
function sharedProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  if (spec.networkPolicy?.peers !== undefined) return [];
  if (!isGlobalMode(spec) && !sharesDatabase(spec)) return [];
  const message =
    "other resources may look after the same database, and the policy would cut them off";
  const remedy =
    "name their pods or addresses, and their operators; an empty list when there are none";
  return [problem(`${path}.peers`, undefined, message, remedy)];
}

function peerProblems(peer: NetworkPolicyPeer, place: string): readonly ValidationProblem[] {
  const { ipBlock, podSelector, namespaceSelector } = peer;
  if (ipBlock === undefined && podSelector === undefined && namespaceSelector === undefined) {
    const remedy = "write podSelector, namespaceSelector or both, or ipBlock";
    return [problem(place, peer, "names nobody", remedy)];
  }
  if (ipBlock !== undefined && (podSelector !== undefined || namespaceSelector !== undefined)) {
    const message = "has both a block of addresses and a selector";
    return [problem(place, peer, message, "make two entries of it")];
  }
  return [
    ...selectorProblems(podSelector, `${place}.podSelector`),
    ...selectorProblems(namespaceSelector, `${place}.namespaceSelector`),
    ...blockProblems(ipBlock, `${place}.ipBlock`),
  ];
}

const blockRemedy = "write it as 10.1.0.0/16 or 2001:db8::/64";

function blockProblems(
  block: NetworkPolicyPeer["ipBlock"],
  place: string,
): readonly ValidationProblem[] {
  if (block === undefined) return [];
  const { cidr, except = [] } = block;
  const whole = parseIpBlock(cidr);
  if (whole === undefined) {
    return [problem(`${place}.cidr`, cidr, `"${cidr}" is no block of addresses`, blockRemedy)];
  }
  return except.flatMap((text, index) => {
    const field = `${place}.except[${index}]`;
    const part = parseIpBlock(text);
    if (part === undefined) {
      return [problem(field, text, `"${text}" is no block of addresses`, blockRemedy)];
    }
    if (isInsideBlock(whole, part) && part.length > whole.length) return [];
    return [problem(field, text, `"${text}" is no part of ${cidr}`, "name a smaller block in it")];
  });
}

const operators = ["In", "NotIn", "Exists", "DoesNotExist"];

function selectorProblems(
  selector: LabelSelector | undefined,
  place: string,
): readonly ValidationProblem[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [
    ...Object.entries(matchLabels).flatMap(([key, value]) => [
      ...keyProblems(key, `${place}.matchLabels`),
      ...valueProblems(value, `${place}.matchLabels.${key}`),
    ]),
    ...matchExpressions.flatMap(({ key, operator, values = [] }, index) => {
      const field = `${place}.matchExpressions[${index}]`;
      const needsValues = operator === "In" || operator === "NotIn";
      return [
        ...keyProblems(key, `${field}.key`),
        ...values.flatMap((value) => valueProblems(value, `${field}.values`)),
        ...(operators.includes(operator)
          ? []
          : [
              problem(
                `${field}.operator`,
                operator,
                "is no operator",
                `use ${operators.join(", ")}`,
              ),
            ]),
        ...(operators.includes(operator) && needsValues !== values.length > 0
          ? [
              problem(
                `${field}.values`,
                values,
                `${operator} ${needsValues ? "needs values" : "takes no values"}`,
                needsValues ? "name at least one" : "leave them out",
              ),
            ]
          : []),
      ];
    }),
  ];
}

function keyProblems(key: string, field: string): readonly ValidationProblem[] {
  if (isLabelKey(key)) return [];
  return [problem(field, key, `"${key}" is no key of a label`, `write ${labelKeyMessage}`)];
}

function valueProblems(value: string, field: string): readonly ValidationProblem[] {
  if (isLabelValue(value)) return [];
  return [problem(field, value, `"${value}" is no value of a label`, `write ${labelValueMessage}`)];
}
