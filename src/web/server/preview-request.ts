// The body of a request for a preview, read within limits and looked at before anything is done with it.
// Rules: spec/web.md [WEB25].
import type { IncomingMessage } from "node:http";
import type { PreviewRequest } from "../view-model.ts";
import { WebProblem } from "./source.ts";

const bodyBytesMax = 2 ** 20;

export async function readPreviewRequest(request: IncomingMessage): Promise<PreviewRequest> {
  const [type] = (request.headers["content-type"] ?? "").split(";");
  // A form of another site cannot say so without asking first.
  if (type?.trim().toLowerCase() !== "application/json") {
    throw new WebProblem(400, "a preview is asked for with the content type application/json");
  }
  return parsePreviewRequest(await bodyOf(request));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > bodyBytesMax) {
      throw new WebProblem(413, `this is too long for a preview: at most ${bodyBytesMax} bytes`);
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The field that carries each kind of change. */
const fields = {
  yaml: "yaml",
  upgrade: "version",
  loseNode: "node",
  loseZone: "zone",
  drain: "node",
} as const;

export function parsePreviewRequest(text: string): PreviewRequest {
  const body = recordOf(parsed(text), "the body");
  const change = recordOf(body["change"], "change");
  const type = textOf(change, "type", "change.type");
  if (!Object.hasOwn(fields, type)) {
    throw new WebProblem(
      400,
      `change.type is ${JSON.stringify(type.slice(0, 50))}: it is one of ${Object.keys(fields).join(", ")}`,
    );
  }
  const field = fields[type as keyof typeof fields];
  return {
    namespace: textOf(body, "namespace", "namespace"),
    cluster: textOf(body, "cluster", "cluster"),
    change: { type, [field]: textOf(change, field, `change.${field}`) } as PreviewRequest["change"],
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WebProblem(400, `the body is no JSON: ${(error as Error).message}`);
  }
}

function recordOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new WebProblem(400, `${name} has to be an object`);
  }
  return value as Readonly<Record<string, unknown>>;
}

function textOf(record: Readonly<Record<string, unknown>>, field: string, name: string): string {
  const value = record[field];
  if (typeof value !== "string" || value.trim() === "") {
    throw new WebProblem(400, `${name} has to be a text that is not empty`);
  }
  return value;
}
