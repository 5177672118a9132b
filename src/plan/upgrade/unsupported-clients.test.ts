// Who is not asked whether it could follow an upgrade. Rules: spec/upgrade.md [U15].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { parseVersion } from "../../model/version.ts";
import { unsupportedClients } from "./unsupported-clients.ts";

test("[U15] agents of backups do not hold an upgrade, other clients do", () => {
  const client = (address: string) => ({ address, log_group: "default" });
  const clients = {
    supported_versions: [
      {
        client_version: "7.3.63",
        protocol_version: "fdb00b073000000",
        max_protocol_clients: [client("10.1.0.7:40000"), client("10.1.0.8:40000:tls")],
      },
    ],
  };
  const status: DatabaseStatus = { client: {}, cluster: { clients } };
  const target = parseVersion("7.4.6");
  assert.ok(target !== undefined);
  const heldBy = (...hosts: string[]): string[] =>
    (unsupportedClients(status, { version: "7.4.6" }, target, new Set(hosts)) ?? []).map(
      ({ address }) => address,
    );
  assert.deepEqual(heldBy(), ["10.1.0.7:40000", "10.1.0.8:40000:tls"]);
  assert.deepEqual(heldBy("10.1.0.7"), ["10.1.0.8:40000:tls"]);
  assert.deepEqual(heldBy("10.1.0.7", "10.1.0.8"), []);
});
