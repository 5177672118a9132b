// What the page knows, and how each event of the stream changes it. Pure. Rules: spec/page.md [PAGE4].
import { applied } from "../difference.ts";
import type { Change } from "../difference.ts";
import type { PageModel } from "../view-model.ts";

export interface Known {
  readonly model: PageModel;
  /** The clock of the API server at the last event, and the page's own then. */
  readonly atMs: number;
  readonly heardMs: number;
}

export type StreamEvent =
  | { readonly type: "model"; readonly atMs: number; readonly model: PageModel }
  | { readonly type: "changes"; readonly atMs: number; readonly changes: readonly Change[] }
  | { readonly type: "tick"; readonly atMs: number };

/** Undefined when the event cannot follow on what is known: then the whole is wanted again. */
export function afterEvent(
  known: Known | undefined,
  event: StreamEvent,
  heardMs: number,
): Known | undefined {
  const { atMs } = event;
  if (event.type === "model") return { model: event.model, atMs, heardMs };
  if (known === undefined) return undefined;
  if (event.type === "tick") return { ...known, atMs, heardMs };
  try {
    return { model: applied(known.model, event.changes), atMs, heardMs };
  } catch {
    return undefined;
  }
}

/** What time it is for the API server; a file stands still. */
export function serverTimeMs({ model, atMs, heardMs }: Known, nowMs: number): number {
  const { source, speed } = model.session;
  return source === "file" ? atMs : atMs + Math.max(0, nowMs - heardMs) * speed;
}

/** No event for so long: the server is gone, or the way to it. It speaks every 15 s. */
const silenceMaxMs = 40_000;

export function isSilent(known: Known | undefined, nowMs: number): boolean {
  return known !== undefined && nowMs - known.heardMs > silenceMaxMs;
}
