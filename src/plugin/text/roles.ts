// The roles of processes in few letters, as `top` and `tree` show them. Rules: spec/plugin.md [VW5].

const shortRoles: Readonly<Record<string, string>> = {
  cluster_controller: "controller",
  data_distributor: "distributor",
  consistency_scan: "scan",
  commit_proxy: "commit",
  grv_proxy: "grv",
};

/** The coordinator is marked by a star. */
export function rolesText({
  roles,
  isCoordinator,
}: {
  readonly roles: readonly string[];
  readonly isCoordinator: boolean;
}): string {
  return [...(isCoordinator ? ["*"] : []), ...roleNames(roles)].join(" ");
}

export function roleNames(roles: readonly string[]): string[] {
  return roles.map((role) => shortRoles[role] ?? role.replaceAll("_", " "));
}
