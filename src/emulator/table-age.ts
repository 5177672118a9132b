// Ages in the short form of kubectl: 45s, 5m30s, 3h, 2d4h.

export function ageSince(time: string, nowMs: number): string {
  if (time === "") return "<unknown>";
  const since = new Date(time).getTime();
  return Number.isNaN(since) ? "<invalid>" : shortDuration(nowMs - since);
}

export function shortDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 192) return pair(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? pair(years, "y", days % 365, "d") : `${years}y`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
