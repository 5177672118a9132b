// The string formats that the API server checks; a format that is not here accepts every string.
import { isIPv4, isIPv6 } from "node:net";

const dateTimePattern =
  /^(\d{4})-(\d{2})-(\d{2})[tT](\d{2}):(\d{2}):(\d{2})(\.\d+)?([zZ]|[+-]\d{2}:\d{2})$/;
const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const macPattern = /^[0-9a-f]{2}([:-])[0-9a-f]{2}(\1[0-9a-f]{2}){4}(\1[0-9a-f]{2}){0,2}$/i;
const hostLabelPattern = /^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$/;
const goDurationPattern =
  /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/;
const wordDurationPattern =
  /^(\d+\s*(ns|nano|us|µs|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)s?\s*)+$/;

const checks: Readonly<Record<string, (text: string) => boolean>> = {
  "date-time": isDateTime,
  datetime: isDateTime,
  date: isDate,
  ipv4: (text) => isIPv4(text.replace(/\b0+(?=\d)/g, "")),
  ipv6: isIPv6,
  cidr: isCidr,
  uri: (text) => text.startsWith("/") || (URL.canParse(text) && !/\s/.test(text)),
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hostname: isHostName,
  uuid: (text) => uuidPattern.test(text),
  byte: (text) => text !== "" && base64Pattern.test(text),
  duration: (text) => goDurationPattern.test(text) || wordDurationPattern.test(text),
  mac: (text) => macPattern.test(text),
};

export function isOfFormat(format: string, text: string): boolean {
  return checks[format]?.(text) ?? true;
}

function isDateTime(text: string): boolean {
  const match = dateTimePattern.exec(text);
  if (match === null) return false;
  const [, year, month, day, hour, minute, second] = match.map(Number);
  return (
    isDay(year ?? 0, month ?? 0, day ?? 0) &&
    (hour ?? 0) < 24 &&
    (minute ?? 0) < 60 &&
    (second ?? 0) < 60
  );
}

function isDate(text: string): boolean {
  const match = datePattern.exec(text);
  return match !== null && isDay(Number(match[1]), Number(match[2]), Number(match[3]));
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isCidr(text: string): boolean {
  const [address = "", length = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(length)) return false;
  return (isIPv4(address) && Number(length) <= 32) || (isIPv6(address) && Number(length) <= 128);
}

/** The server's own check wants at least two letters in the last label, if there are several. */
function isHostName(text: string): boolean {
  const labels = text.split(".");
  if (text.length > 253 || !labels.every((label) => hostLabelPattern.test(label))) return false;
  return labels.length === 1 || (labels.at(-1) ?? "").length > 1;
}
