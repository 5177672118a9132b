// The table of who talks to whom in docs/network-policy.md, made of the one that policies are made of. `npm run generate` writes it.
// Rules: spec/network.md [NET2].
import { networkTable } from "../src/build/network-policy.ts";
import type { NetworkDoor } from "../src/build/network-policy.ts";
import { processPort } from "../src/model/address.ts";
import { metricsPort, sidecarPort } from "../src/model/pod-ports.ts";

const begin = "<!-- Generated from src/build/network-policy.ts by npm run generate. -->";
const end = "<!-- End of the generated table. -->";

const doors: Readonly<Record<NetworkDoor, string>> = {
  processes: `${processPort(1, true)} (TLS) and ${processPort(1, false)}, two more for each further process of a pod`,
  sidecar: String(sidecarPort),
  metrics: String(metricsPort),
};

export function withNetworkTable(page: string): string {
  const [before, after] = [page.indexOf(begin), page.indexOf(end)];
  if (before === -1 || after < before) {
    throw new Error(`docs/network-policy.md lacks the lines "${begin}" and "${end}"`);
  }
  const rows = networkTable.map(
    ({ who, to, knownBy, why }) => `| ${who} | ${doors[to]} | ${knownBy} | ${why} |`,
  );
  const head = ["| who | TCP ports | known by | why |", "|---|---|---|---|"];
  return page.slice(0, before) + [begin, ...head, ...rows, ""].join("\n") + page.slice(after);
}
