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
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
}
