// The ways to the API server. The Lease has connections of its own, so that its requests wait for no others: with many
// clusters and a server that hangs, all other connections may be taken. Rule: spec/kube.md [KUBE113].
import { httpsTransport } from "../kube/https.ts";
import type { HttpsTransport, HttpsTransportOptions } from "../kube/https.ts";
import type { KubeConnection } from "../kube/kubeconfig.ts";
import type { KubeTransport } from "../kube/transport.ts";

export interface Connections {
  readonly transport: HttpsTransport;
  /** For nothing but the Lease. */
  readonly leaseTransport: KubeTransport;
  close(): void;
}

/** A watch, a renewal that hangs, another that is tried meanwhile, and a look at the Lease. */
const leaseSockets = 8;

export function openConnections(
  connection: KubeConnection,
  options: HttpsTransportOptions,
): Connections {
  const transport = httpsTransport(connection, options);
  const leaseTransport = httpsTransport(connection, { ...options, maxSockets: leaseSockets });
  return {
    ...{ transport, leaseTransport },
    close() {
      transport.close();
      leaseTransport.close();
    },
  };
}
