// Kubernetes' two spellings of an instant: metav1.Time with whole seconds and MicroTime with exactly six
// fractional digits (a Lease with fewer is refused by the API server).

export function formatTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

export function formatMicroTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 23)}000Z`;
}

/** Milliseconds since the epoch; undefined when the text is absent or no instant. */
export function parseTime(text: string | null | undefined): number | undefined {
  if (text === undefined || text === null) return undefined;
  const atMs = wholeSeconds(text) ?? Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
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
