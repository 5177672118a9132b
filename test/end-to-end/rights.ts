// What the operator was allowed, by its rules and by the audit log of a real API server.
import type { PolicyRule } from "../../src/operate/permissions.ts";
import type { AuditedRequest, ControlPlane } from "../control-plane.ts";
import { operatorUser } from "./installation.ts";

type Audited = Pick<ControlPlane, "audited">;

export function rightsOf(rules: readonly PolicyRule[]): string[] {
  return rules.flatMap((rule) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.map((verb) => `${verb} ${rule.apiGroups[0] ?? ""}/${resource}`),
    ),
  );
}

export function usedRights(controlPlane: Audited): ReadonlySet<string> {
  return new Set(controlPlane.audited(operatorUser).map(rightOf));
}

export function forbiddenRights(controlPlane: Audited): string[] {
  const refused = controlPlane.audited(operatorUser).filter(({ code }) => code === 403);
  return [...new Set(refused.map(rightOf))];
}

function rightOf({ verb, apiGroup, resource }: AuditedRequest): string {
  return `${verb} ${apiGroup}/${resource}`;
}
