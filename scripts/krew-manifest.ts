// Fills the manifest for krew: the version, and for each archive its platform, address and checksum. A platform that was not
// built is left out, since krew would offer what cannot be fetched. Rules: spec/deploy.md [DEP24].
import { parseDocument } from "yaml";
import { targets } from "./node-binary.ts";
import type { Target } from "./node-binary.ts";

export interface Archive {
  readonly target: Target;
  /** Its name; it lies below the address that is given. */
  readonly file: string;
  readonly sha256: string;
}

export function filledManifest(
  template: string,
  version: string,
  url: string,
  archives: readonly Archive[],
): string {
  const document = parseDocument(template);
  document.setIn(["spec", "version"], `v${version}`);
  document.setIn(
    ["spec", "platforms"],
    archives.map(({ target, file, sha256 }) => ({
      selector: { matchLabels: { os: targets[target].os, arch: targets[target].arch } },
      uri: `${url.replace(/\/$/, "")}/${file}`,
      sha256,
      bin: "kubectl-fdb",
      files: [
        { from: "kubectl-fdb", to: "." },
        { from: "LICENSE", to: "." },
      ],
    })),
  );
  return document.toString({ lineWidth: 0 });
}
