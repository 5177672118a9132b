// Kubernetes' two spellings of an instant: metav1.Time with whole seconds and MicroTime with exactly six
// fractional digits (a Lease with fewer is refused by the API server).

export function formatTime(atMs: number): string {
  const day = Math.floor(atMs / dayMs);
  if (day !== lastDay) {
    const text = new Date(atMs).toISOString();
    // Times before the epoch and after the year 9999 have a form of their own.
    if (day < 0 || text.length !== 24) return `${text.slice(0, 19)}Z`;
    lastDay = day;
    lastDayText = text.slice(0, 11);
  }
  const second = Math.floor((atMs - day * dayMs) / 1000);
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  return `${lastDayText}${digits[hour]}:${digits[minute % 60]}:${digits[second % 60]}Z`;
}

const dayMs = 86_400_000;
const digits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));
/** Most times that are written are of the same day, whose date is worked out once. */
let lastDay: number | undefined;
let lastDayText = "";

export function formatMicroTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 23)}000Z`;
}

/** Milliseconds since the epoch; undefined when the text is absent or no instant. */
export function parseTime(text: string | null | undefined): number | undefined {
  if (text === undefined || text === null) return undefined;
  const atMs = wholeSeconds(text) ?? Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** Whether a text is a time as formatTime writes it; false for some that are, too. */
export function isFormattedTime(text: string): boolean {
  return wholeSeconds(text) !== undefined;
}

const form = "0000-00-00T00:00:00Z";

/**
 * The form in which Kubernetes writes nearly all times, read digit by digit: times of objects are compared in every step for
 * every process. Undefined for any other text, and where the length of the month would have to be known.
 */
function wholeSeconds(text: string): number | undefined {
  if (text.length !== form.length) return undefined;
  for (let index = 0; index < form.length; index += 1) {
    const code = text.charCodeAt(index);
    const expected = form.charCodeAt(index);
    if (expected === zero ? code < zero || code > nine : code !== expected) return undefined;
  }
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (year < 100 || month < 1 || month > 12 || day < 1 || day > 28) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - zero) * 10 + text.charCodeAt(at + 1) - zero;
}

const zero = 48;
const nine = 57;
