// A line of a log as a person reads it: trace events of FoundationDB (JSON and XML), structured lines of the programs in its
// pods, and plain text. Pure. Rules: spec/plugin.md [VW14], [VW15].
import { stripVTControlCharacters } from "node:util";
import { cut } from "../text/table.ts";

export interface LogLine {
  readonly atMs: number;
  /** As FoundationDB counts: 5 debug, 10 information, 20 and 30 warnings, 40 errors. */
  readonly severity: number;
  readonly text: string;
}

export const severities = { debug: 5, info: 10, warning: 20, error: 40 } as const;

export type SeverityName = keyof typeof severities;

/** Longer lines are cut: a line of a terminal is no place for a megabyte. */
const textMax = 4_000;

/** A line as an API server hands it out with timestamps; `otherwiseMs` for one without. */
export function parseLogLine(raw: string, otherwiseMs: number): LogLine {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s.exec(raw);
  const toldMs = match === null ? Number.NaN : Date.parse(match[1] ?? "");
  const text = match === null ? raw : (match[2] ?? "");
  const found: Found = traceEvent(text) ?? structured(text) ?? { severity: severities.info, text };
  const { atMs = otherwiseMs, severity } = found;
  return {
    atMs: Number.isNaN(toldMs) ? atMs : toldMs,
    severity,
    text: cut(plain(found.text.slice(0, 4 * textMax)), textMax),
  };
}

interface Found {
  readonly atMs?: number;
  readonly severity: number;
  readonly text: string;
}

/** Fields of a trace event that repeat what is said elsewhere in the line. */
const traceHead: ReadonlySet<string> = new Set([
  ...["Severity", "Time", "DateTime", "Type", "Machine", "LogGroup", "Roles", "ThreadID", "as"],
  ...["TrackLatestType", "OriginalTime", "OriginalDateTime"],
]);

/** Undefined when the text is no trace event. */
function traceEvent(text: string): Found | undefined {
  const fields = text.startsWith("{") ? jsonFields(text) : xmlFields(text);
  if (fields === undefined) return undefined;
  const type = fields.get("Type");
  const severity = Number(fields.get("Severity"));
  if (type === undefined || !Number.isFinite(severity)) return undefined;
  const atMs = timeOf(fields);
  const rest = [...fields].filter(([name]) => !traceHead.has(name));
  return {
    severity,
    text: [type, ...rest.map(pair)].join(" "),
    ...(atMs === undefined ? {} : { atMs }),
  };
}

function timeOf(fields: ReadonlyMap<string, string>): number | undefined {
  const told = Date.parse(fields.get("DateTime") ?? "");
  if (!Number.isNaN(told)) return told;
  const seconds = Number(fields.get("Time"));
  // Simulations count from zero.
  return Number.isFinite(seconds) && seconds > 1e9 ? Math.round(seconds * 1_000) : undefined;
}

function xmlFields(text: string): Map<string, string> | undefined {
  if (!text.startsWith("<Event ") || !text.trimEnd().endsWith("/>")) return undefined;
  const found = [...text.matchAll(/([A-Za-z][\w.-]*)="([^"]*)"/g)];
  return new Map(found.map(([, name = "", value = ""]) => [name, unescaped(value)]));
}

const entities: Readonly<Record<string, string>> = {
  ...{ "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&" },
};

function unescaped(value: string): string {
  return value.replace(/&(?:lt|gt|quot|apos|amp);/g, (entity) => entities[entity] ?? entity);
}

function jsonFields(text: string): Map<string, string> | undefined {
  const value = jsonObject(text);
  if (value === undefined) return undefined;
  return new Map(Object.entries(value).map(([name, one]) => [name, asText(one)]));
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    // A line that is cut, or text that begins like JSON.
    return undefined;
  }
}

const levels: Readonly<Record<string, number>> = {
  ...{ trace: 5, debug: 5, info: 10, warn: 20, warning: 20 },
  ...{ error: 40, dpanic: 40, panic: 40, fatal: 40, critical: 40 },
};
const structuredHead: ReadonlySet<string> = new Set([
  ...["level", "severity", "ts", "time", "timestamp", "msg", "message", "logger", "caller"],
  ...["pid", "hostname"],
]);

/** A line of the monitor or the sidecar: a JSON object with a level and a message. */
function structured(text: string): Found | undefined {
  const value = jsonObject(text);
  const message = value?.["msg"] ?? value?.["message"];
  if (value === undefined || typeof message !== "string") return undefined;
  const level = asText(value["level"] ?? value["severity"] ?? "").toLowerCase();
  const rest = Object.entries(value).filter(([name]) => !structuredHead.has(name));
  return {
    severity: levels[level] ?? severities.info,
    text: [message, ...rest.map(([name, one]) => pair([name, asText(one)]))].join(" "),
  };
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function pair([name, value]: readonly [string, string]): string {
  return /^[^\s"]+$/.test(value) ? `${name}=${value}` : `${name}=${JSON.stringify(value)}`;
}

/** Nothing of a log may move the cursor or change the colours of a terminal. */
function plain(text: string): string {
  const isControl = (code: number): boolean => (code < 32 && code !== 9) || code === 127;
  return stripVTControlCharacters(text).replace(/./gs, (letter) =>
    isControl(letter.charCodeAt(0)) ? "" : letter,
  );
}
