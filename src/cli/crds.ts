// `fdb-operator crds`: the CustomResourceDefinitions as YAML on standard output.
import { stringify } from "yaml";
import { customResourceDefinitions } from "../api/crd.ts";

export function runCrds(): void {
  const documents = customResourceDefinitions.map((crd) => stringify(crd, { lineWidth: 0 }));
  process.stdout.write(documents.join("---\n"));
}
