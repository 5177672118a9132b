// Stands between the operator and its database.
import type { AdminClient, AdminClientFactory } from "../../src/fdb/admin.ts";

/** Each part of a client may answer in its place. */
export function withAdmin(
  change: (client: AdminClient) => Partial<AdminClient>,
): (factory: AdminClientFactory) => AdminClientFactory {
  return (factory) => ({
    isVersionSupported: (version) => factory.isVersionSupported(version),
    installedVersions: () => factory.installedVersions(),
    open: (options) => {
      const client = factory.open(options);
      return { ...client, ...change(client) };
    },
  });
}
