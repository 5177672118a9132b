// Conditions as Kubernetes lists them in a status: at most one of each type.

export function conditionIn<C extends { readonly type?: string }>(
  status: { readonly conditions?: readonly C[] | undefined } | undefined,
  type: string,
): C | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}
