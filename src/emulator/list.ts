// GET of collections: selection, pages with continue tokens, and lists at a revision. [KAS16] [KAS17] [KAS18]
import { isJsonObject, objectAt, stringAt, type JsonObject } from "./json.ts";
import { kindApiVersion, type Kind } from "./kind.ts";
import {
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  type FieldSelector,
  type LabelSelector,
} from "./selectors.ts";
import { present, type ServerContext } from "./server-context.ts";
import { badRequest, expired, StatusError } from "./status.ts";

export type Query = Readonly<Record<string, string>>;

export interface Selection {
  labels: LabelSelector;
  fields: FieldSelector;
  /** True for everything. */
  isAll: boolean;
}

export function readSelection(kind: Kind, query: Query, name = ""): Selection {
  const labels = parseLabelSelector(query["labelSelector"] ?? "");
  const known = ["metadata.name", "metadata.namespace", ...Object.keys(kind.rules.fields ?? {})];
  const parsed = parseFieldSelector(query["fieldSelector"] ?? "", known, kind.isCustom);
  const fields =
    name === "" ? parsed : [...parsed, { field: "metadata.name", isEqual: true, value: name }];
  return { labels, fields, isAll: labels.length === 0 && fields.length === 0 };
}

/** Whether a stored object is selected. */
export function isSelected(kind: Kind, selection: Selection, object: JsonObject): boolean {
  if (selection.isAll) return true;
  const metadata = objectAt(object, "metadata");
  for (const { field, isEqual, value } of selection.fields) {
    if ((fieldValue(kind, field, metadata, object) === value) !== isEqual) return false;
  }
  return selection.labels.length === 0 || matchesLabels(selection.labels, metadata["labels"]);
}

function fieldValue(kind: Kind, field: string, metadata: JsonObject, object: JsonObject): string {
  if (field === "metadata.name") return stringAt(metadata, "name");
  if (field === "metadata.namespace") return stringAt(metadata, "namespace");
  return kind.rules.fields?.[field]?.(object) ?? "";
}

export function readRevision(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (!/^\d+$/.test(text)) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: ` +
        `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}

export function listObjects(
  server: ServerContext,
  kind: Kind,
  namespace: string,
  query: Query,
): JsonObject {
  const selection = readSelection(kind, query);
  // A list from the cache (resourceVersion 0) comes whole.
  const limit = query["resourceVersion"] === "0" ? 0 : readLimit(query["limit"]);
  const token = readToken(query["continue"]);
  const { revision, entries } =
    token === undefined
      ? firstPage(server, kind, namespace, query)
      : nextPage(server, kind, namespace, token);
  const items: JsonObject[] = [];
  let lastKey = "";
  let remaining = 0;
  for (const [key, object] of entries) {
    if (token !== undefined && key <= token.afterKey) continue;
    if (limit > 0 && items.length >= limit) {
      remaining += 1;
      continue;
    }
    if (!isSelected(kind, selection, object)) continue;
    items.push(listed(kind, present(kind, object)));
    lastKey = key;
  }
  const metadata: JsonObject = { resourceVersion: String(revision) };
  if (kind.isCustom) metadata["continue"] = "";
  if (remaining > 0) {
    metadata["continue"] = writeToken({ revision, afterKey: lastKey });
    if (selection.isAll) metadata["remainingItemCount"] = remaining;
  }
  return { kind: kind.listKind, apiVersion: kindApiVersion(kind), metadata, items };
}

const listedForms = new WeakMap<JsonObject, JsonObject>();

/** Items in lists of built-in kinds do not repeat their type; made once per object. */
function listed(kind: Kind, object: JsonObject): JsonObject {
  if (kind.isCustom) return object;
  let form = listedForms.get(object);
  if (form === undefined) {
    const { apiVersion: _version, kind: _kind, ...rest } = object;
    form = Object.freeze(rest);
    listedForms.set(object, form);
  }
  return form;
}

interface Page {
  revision: number;
  entries: Iterable<[string, JsonObject]>;
}

function firstPage(server: ServerContext, kind: Kind, namespace: string, query: Query): Page {
  const { store } = server;
  const asked = readRevision(query["resourceVersion"]);
  const match = query["resourceVersionMatch"];
  checkMatch(match, query["resourceVersion"]);
  if (asked > store.revision) throw tooLarge(asked, store.revision);
  if (match === "Exact") {
    const entries = store.entriesAt(kind.storageKey, namespace, asked);
    if (entries === undefined)
      throw expired("The resourceVersion for the provided list is too old.");
    return { revision: asked, entries };
  }
  return { revision: store.revision, entries: store.entries(kind.storageKey, namespace) };
}

function checkMatch(match: string | undefined, version: string | undefined): void {
  if (match === undefined) return;
  if (match !== "Exact" && match !== "NotOlderThan") {
    throw listOptionsInvalid(
      `resourceVersionMatch: Unsupported value: ${JSON.stringify(match)}: supported values: ` +
        `"Exact", "NotOlderThan", ""`,
    );
  }
  if (version === undefined || version === "") {
    throw listOptionsInvalid(
      "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
    );
  }
  if (match === "Exact" && version === "0") {
    throw listOptionsInvalid(
      'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    );
  }
}

export function listOptionsInvalid(why: string): StatusError {
  const [field = "", ...rest] = why.split(": ");
  const message = rest.join(": ");
  const reason = message.startsWith("Forbidden") ? "FieldValueForbidden" : "FieldValueNotSupported";
  return new StatusError(422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: ${why}`, {
    group: "meta.k8s.io",
    kind: "ListOptions",
    causes: [{ reason, message, field }],
  });
}

function nextPage(server: ServerContext, kind: Kind, namespace: string, token: Token): Page {
  const { store } = server;
  if (token.revision <= 0) {
    return { revision: store.revision, entries: store.entries(kind.storageKey, namespace) };
  }
  const entries = store.entriesAt(kind.storageKey, namespace, token.revision);
  if (entries !== undefined) return { revision: token.revision, entries };
  throw new ExpiredToken(writeToken({ revision: -1, afterKey: token.afterKey }));
}

/** 410 with a token that goes on with a list that is not consistent with the first page. */
class ExpiredToken extends StatusError {
  readonly #token: string;

  constructor(token: string) {
    super(
      410,
      "Expired",
      "The provided continue parameter is too old to display a consistent list result. You can start a " +
        "new list without the continue parameter, or use the continue token in this response to retrieve " +
        "the remainder of the results. Continuing with the provided token results in an inconsistent list " +
        "- objects that were created, modified, or deleted between the time the first chunk was returned " +
        "and now may show up in the list.",
    );
    this.#token = token;
  }

  override body(): JsonObject {
    return { ...super.body(), metadata: { continue: this.#token } };
  }
}

function tooLarge(asked: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return new StatusError(504, "Timeout", message, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

function readLimit(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  const limit = Number(text);
  if (!Number.isInteger(limit))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Math.max(0, limit);
}

interface Token {
  revision: number;
  afterKey: string;
}

function writeToken({ revision, afterKey }: Token): string {
  const text = JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: `${afterKey}\u0000` });
  return Buffer.from(text).toString("base64url");
}

function readToken(text: string | undefined): Token | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const token: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (
      isJsonObject(token) &&
      typeof token["rv"] === "number" &&
      typeof token["start"] === "string"
    ) {
      return { revision: token["rv"], afterKey: token["start"].slice(0, -1) };
    }
  } catch (error) {
    // Whatever is not JSON is refused below, in the same words as JSON of another form.
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw badRequest("invalid continue token: continue key is not valid: it is malformed");
}
