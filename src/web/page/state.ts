// What the page shows now, as signals: what is drawn follows them, and only that part whose value is another than before.
// Rules: spec/page.md [PAGE4].
import { computed, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { ClusterModel, MissingCluster, SessionModel } from "../view-model.ts";
import type { Theme } from "./effects.ts";
import { isSilent, serverTimeMs } from "./stream.ts";
import type { Known } from "./stream.ts";
import type { Route } from "./route.ts";

export const known = signal<Known | undefined>(undefined);
export const route = signal<Route>({ view: "clusters" });
/** "opening": the first event is awaited; "lost": there was one, and it broke. */
export const connection = signal<"opening" | "open" | "lost">("opening");
/** Why the server refuses, when it does. */
export const refusal = signal<string | undefined>(undefined);
export const theme = signal<Theme>("system");
/** Counts whenever colours change, by a choice or by the system. */
export const paintings = signal(0);
/** The head of the page is out of sight. */
export const isScrolled = signal(false);

export const isHelpOpen = signal(false);
/** The page's own clock, once in a second. */
export const pageMs = signal(0);

export const session: ReadonlySignal<SessionModel | undefined> = computed(
  () => known.value?.model.session,
);
export const cards = computed(() => known.value?.model.clusters ?? {});
/** The cluster that the address names, once its stream has told of it. */
export const cluster: ReadonlySignal<ClusterModel | MissingCluster | undefined> = computed(() => {
  const { value: shown } = route;
  const found = known.value?.model.cluster;
  if (shown.view === "clusters" || found === undefined) return undefined;
  return found.namespace === shown.namespace && found.name === shown.name ? found : undefined;
});
/** The time of the API server, in steps of about a second. */
export const serverMs = computed(() =>
  known.value === undefined ? 0 : serverTimeMs(known.value, pageMs.value),
);
export const isLost = computed(
  () => connection.value === "lost" || isSilent(known.value, pageMs.value),
);
