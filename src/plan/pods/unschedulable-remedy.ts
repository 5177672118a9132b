// What helps a pod that no node takes, by what the scheduler says: to uncordon a node is no advice where all are full.
// Rules: spec/explain.md [E62].

const helps: readonly (readonly [said: RegExp, help: string])[] = [
  [/unschedulable/, "uncordon nodes"],
  [/Insufficient|Too many pods/, "free resources, or lower the pod template's requests"],
  [/taint/, "remove the taint, or add a toleration to the pod template"],
  [/affinity|selector/, "change the pod template's selectors or affinity"],
  [/topology spread/, "change the pod template's spread constraints"],
];

/** Undefined where the scheduler says none of what is known here. */
export function unschedulableRemedy(detail: string): string | undefined {
  const found = helps.filter(([said]) => said.test(detail)).map(([, help]) => help);
  if (found.length === 0) return undefined;
  return `Add nodes; or ${found.join("; or ")}.`;
}
