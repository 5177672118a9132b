// Replaces what is secret in a Kubernetes object by placeholders: by its place (environment, arguments of containers that
// are not ours, annotations of others, data) or by its form. What an object needs in order to be itself stays: names,
// labels, images, sizes, addresses. Rules PIC10, PIC12, PIC13.
import { annotationKeys } from "../build/labels.ts";
import { initContainerName, mainContainerName, sidecarContainerName } from "../build/normalise.ts";
import type { Redaction } from "./redaction.ts";
import { isPlainSetting, isSecretName } from "./secret-patterns.ts";

export interface RedactionContext {
  readonly redaction: Redaction;
  /** Variables whose values stay: the operator's own, and those that name a place. */
  readonly keepsVariable: (name: string) => boolean;
  /** Variables whose values stand on command lines. */
  readonly isOnCommandLine: (name: string) => boolean;
  /** Gets every text that stays as it is. */
  readonly onName?: (text: string) => void;
}

type Json = unknown;
type Fields = Readonly<Record<string, Json>>;

export const lastAppliedConfiguration = "kubectl.kubernetes.io/last-applied-configuration";

/** A copy; parts that are not for people, such as managedFields, are left out. */
export function redactObject<T>(context: RedactionContext, object: T): T {
  return redacted(context, object, { key: "", kind: kindOf(object) }) as T;
}

interface Place {
  readonly key: string;
  /** Of the object that all this is part of. */
  readonly kind: string;
}

function kindOf(object: unknown): string {
  return isFields(object) && typeof object["kind"] === "string" ? object["kind"] : "";
}

function redacted(context: RedactionContext, value: Json, place: Place): Json {
  if (typeof value === "string") return redactedText(context, value, place.key);
  if (Array.isArray(value)) return redactedList(context, value, place);
  if (!isFields(value)) return value;
  return redactedFields(context, value, place);
}

const freeTexts: ReadonlySet<string> = new Set(["message", "note", "remedy", "description"]);

function redactedText({ redaction, onName }: RedactionContext, text: string, key: string): string {
  if (freeTexts.has(key) || text.length > 256 || /\s/.test(text)) return redaction.text(text);
  const name = redaction.name(text);
  onName?.(name);
  return name;
}

function redactedList(context: RedactionContext, list: readonly Json[], place: Place): Json[] {
  const { key } = place;
  if (key === "env") return list.map((entry) => redactedVariable(context, entry));
  if (key === "httpHeaders") return list.map((entry) => withSecrets(context, entry, ["value"]));
  if (key === "customParameters") return list.map((entry) => redactedParameter(context, entry));
  if (key === "urlParameters") {
    return list.map((entry) => (typeof entry === "string" ? context.redaction.text(entry) : entry));
  }
  return list.map((entry) => redacted(context, entry, place));
}

const ownContainers: ReadonlySet<unknown> = new Set([
  mainContainerName,
  sidecarContainerName,
  initContainerName,
]);

function redactedFields(context: RedactionContext, fields: Fields, place: Place): Fields {
  const result: Record<string, Json> = {};
  const isOwn = ownContainers.has(fields["name"]);
  for (const [key, value] of Object.entries(fields)) {
    if (key === "managedFields") continue;
    result[key] = redactedField(context, { key, value, isOwn, place });
  }
  return result;
}

interface Field {
  readonly key: string;
  readonly value: Json;
  /** Of a container that the operator makes. */
  readonly isOwn: boolean;
  readonly place: Place;
}

function redactedField(
  context: RedactionContext,
  { key, value, isOwn, place: { key: parent, kind } }: Field,
): Json {
  const { redaction } = context;
  if (key === "annotations" && isFields(value)) return redactedAnnotations(context, value);
  if ((key === "args" || key === "command") && isTextList(value)) {
    if (isOwn) return value.map((text) => redaction.text(text));
    const [program = "", ...rest] = value;
    if (key === "args" || !/^[\w./-]*\/[\w./-]+$|^[a-z][\w-]{0,20}$/.test(program)) {
      return redactedArguments(redaction, value);
    }
    return [program, ...redactedArguments(redaction, rest)];
  }
  if (key === "accountName" && typeof value === "string") return redactedAccount(redaction, value);
  if (isFields(value)) {
    const isSecret = kind === "Secret" && (key === "data" || key === "stringData");
    const isAttributes =
      key === "volumeAttributes" || (parent === "flexVolume" && key === "options");
    const isParameters = kind === "StorageClass" && key === "parameters";
    if (isSecret || isAttributes || isParameters) return allSecret(redaction, value);
    const isConfiguration = kind === "ConfigMap" || parent === "configMap";
    if (isConfiguration && (key === "data" || key === "binaryData")) {
      return redactedData(redaction, value);
    }
  }
  return redacted(context, value, { key, kind });
}

/** A variable with a source instead of a value names it only. */
function redactedVariable(context: RedactionContext, entry: Json): Json {
  if (!isFields(entry)) return redacted(context, entry, { key: "", kind: "" });
  const { name, value, ...rest } = entry;
  const others = redactedFields(context, rest, { key: "", kind: "" });
  if (typeof value !== "string") return { name, ...others };
  return { name, value: variableValue(context, String(name), value), ...others };
}

export function variableValue(context: RedactionContext, name: string, value: string): string {
  const { redaction, keepsVariable, isOnCommandLine, onName } = context;
  const isKept = keepsVariable(name) && !isSecretName(name);
  if (isKept && redaction.name(value) === value) {
    onName?.(value);
    return value;
  }
  if (isOnCommandLine(name)) redaction.force(value);
  return redaction.secret(value);
}

/** `name=value`; a value that its name gives away is replaced whatever it is. */
function redactedParameter({ redaction }: RedactionContext, entry: Json): Json {
  if (typeof entry !== "string") return entry;
  const equals = entry.indexOf("=");
  const [name, value] = [entry.slice(0, equals), entry.slice(equals + 1).trim()];
  const isReference = value.startsWith("$");
  const isKnob = name.includes("knob_") && isPlainSetting(value);
  if (equals < 0 || isReference || isKnob || !isSecretName(name)) return redaction.text(entry);
  redaction.force(value);
  return `${name}=${redaction.secret(value)}`;
}

/** What a program of somebody else is told: its flags stay, their values do not. */
function redactedArguments(redaction: Redaction, texts: readonly string[]): string[] {
  return texts.map((text) => {
    // A short flag may have its value right behind it, as -pPASSWORD.
    const [, flag = "", value = ""] = /^(--[\w.-]+=?|-\w)([\s\S]*)$/.exec(text) ?? [];
    if (flag === "") return redaction.unknown(text);
    return value === "" ? flag : flag + redaction.unknown(value);
  });
}

/** Key, secret and token of an account before the host. */
function redactedAccount(redaction: Redaction, text: string): string {
  const at = text.lastIndexOf("@");
  if (at < 0) return redaction.text(text);
  const parts = text.slice(0, at).split(":");
  return `${parts.map((part) => redaction.secret(part)).join(":")}${text.slice(at)}`;
}

function redactedAnnotations(context: RedactionContext, annotations: Fields): Fields {
  const { redaction } = context;
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(annotations)) {
    if (typeof value !== "string") continue;
    if (key === lastAppliedConfiguration) {
      // What is secret in it is secret elsewhere, too. Only that of the cluster is needed.
      const hidden = redactObject({ ...context, onName: () => {} }, parsedJson(value));
      if (kindOf(hidden) === "FoundationDBCluster") result[key] = JSON.stringify(hidden);
    } else if (key === annotationKeys.launcherEnvironment) {
      result[key] = redactedEnvironment(context, value);
    } else if (isPlainSetting(value)) {
      result[key] = value;
    } else if (/^(?:[\w-]+\.)*(?:foundationdb\.org|kubernetes\.io|k8s\.io)\//.test(key)) {
      result[key] = redaction.text(value);
    } else {
      result[key] = redaction.unknown(value);
    }
  }
  return result;
}

/** The variables as the monitor reports them: a JSON object. */
function redactedEnvironment(context: RedactionContext, text: string): string {
  const variables = parsedJson(text);
  if (!isFields(variables)) return context.redaction.unknown(text);
  const entries = Object.entries(variables).map(([name, value]) => [
    name,
    typeof value === "string" ? variableValue(context, name, value) : value,
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** Entries that the operator writes, and those that a resource puts in their place. */
export function isGeneratedKey(key: string): boolean {
  return /^(?:cluster-file|running-version|ca-file|sidecar-conf|fdbmonitor-conf.*)$/.test(key);
}

function redactedData(redaction: Redaction, data: Fields): Fields {
  const entries = Object.entries(data).map(([key, value]) => {
    if (typeof value !== "string") return [key, value];
    return [key, isGeneratedKey(key) ? redaction.text(value) : redaction.secret(value)];
  });
  return Object.fromEntries(entries) as Fields;
}

function allSecret(redaction: Redaction, fields: Fields): Fields {
  const entries = Object.entries(fields).map(([key, value]) => [
    key,
    typeof value === "string" ? redaction.unknown(value) : value,
  ]);
  return Object.fromEntries(entries) as Fields;
}

function withSecrets(context: RedactionContext, entry: Json, keys: readonly string[]): Json {
  if (!isFields(entry)) return redacted(context, entry, { key: "", kind: "" });
  const secret = Object.entries(entry).map(([key, value]) => [
    key,
    keys.includes(key) && typeof value === "string" ? context.redaction.secret(value) : value,
  ]);
  return Object.fromEntries(secret) as Fields;
}

export function parsedJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    // Whoever wrote it meant something else than JSON.
    return undefined;
  }
}

function isTextList(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

function isFields(value: Json): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
