// `fdb-operator validate`: what the API server and the operator would say of resources, without either.
import { append } from "../env/long-lists.ts";
import { validateDocument } from "../api/validate-document.ts";
import { CommandError } from "../env/command-error.ts";
import { readDocuments } from "./documents.ts";
import type { SourceDocument } from "./documents.ts";

export interface ValidateOptions {
  file: string[];
  output: "text" | "json";
}

export async function runValidate(options: ValidateOptions): Promise<void> {
  const documents: SourceDocument[] = [];
  for (const file of options.file) append(documents, await readDocuments(file));
  if (documents.length === 0) {
    throw new CommandError(`${options.file.join(", ")}: no resource found`);
  }
  const results = documents.map((document) => ({
    file: document.file,
    document: document.number,
    kind: document.object.kind,
    name: document.object.metadata?.name ?? "",
    findings: validateDocument(document.object),
  }));
  const refused = results.filter((result) =>
    result.findings.some((item) => item.severity === "error"),
  );
  if (options.output === "json") {
    process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  } else {
    for (const result of results) process.stdout.write(describe(result));
  }
  if (refused.length > 0) process.exitCode = 1;
}

function describe(result: {
  file: string;
  kind: string;
  name: string;
  findings: ReturnType<typeof validateDocument>;
}): string {
  const title = `${result.file}: ${result.kind} ${result.name}`;
  if (result.findings.length === 0) return `${title}: valid\n`;
  const lines = result.findings.map((finding) => {
    const remedy = finding.remedy === undefined ? "" : ` (${finding.remedy})`;
    const place = finding.field === "" ? "" : `${finding.field}: `;
    return `  ${finding.severity}: ${place}${finding.message}${remedy}`;
  });
  return `${title}:\n${lines.join("\n")}\n`;
}
