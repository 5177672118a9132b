// What a policy lets in that another does not: who is let in besides can be let in at once, who is to be shut out is looked at
// first. Rules: spec/network.md [NET11].
import type { NetworkPolicyIngressRule, NetworkPolicySpec } from "../../kube/generated/types.ts";
import { isSameJson } from "../view/same-json.ts";

/** The most rules of a policy that is widened again and again while nothing may be taken away. */
const rulesMaximum = 32;

/** Everybody whom either lets in. Undefined when that has become too much. */
export function widened(
  current: NetworkPolicySpec,
  wanted: NetworkPolicySpec,
): NetworkPolicySpec | undefined {
  const rules = wanted.ingress ?? [];
  const more = (current.ingress ?? []).filter((rule) => !isCovered(rule, rules));
  const ingress = [...rules, ...more];
  return ingress.length > rulesMaximum ? undefined : { ...wanted, ingress };
}

/** Whether all that the current policy lets in is let in by the wanted one. */
export function isWidening(current: NetworkPolicySpec, wanted: NetworkPolicySpec): boolean {
  return (current.ingress ?? []).every((rule) => isCovered(rule, wanted.ingress ?? []));
}

function isCovered(
  rule: NetworkPolicyIngressRule,
  rules: readonly NetworkPolicyIngressRule[],
): boolean {
  return rules.some(
    (other) => containsAll(other.from, rule.from) && containsAll(other.ports, rule.ports),
  );
}

/** No list, or an empty one, is everybody. */
function containsAll(
  whole: readonly unknown[] | undefined,
  part: readonly unknown[] | undefined,
): boolean {
  if (whole === undefined || whole.length === 0) return true;
  if (part === undefined || part.length === 0) return false;
  return part.every((item) => whole.some((other) => isSameJson(item, other)));
}
