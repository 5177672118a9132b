// Where the page touches the browser: its stream, its requests, its address, its clock, its colours. Everything else in this
// folder computes or draws. Rules: spec/page.md [PAGE3], [PAGE4], [PAGE13].
import { effect } from "@preact/signals";
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import { previewLimitMs } from "../preview-limit.ts";
import type { PreviewAnswer, Problem, Story } from "../view-model.ts";
import { App } from "./app.tsx";
import { giveEffects } from "./effects.ts";
import type { Theme } from "./effects.ts";
import { hashOf, routeOf, viewTitles } from "./route.ts";
import type { Route } from "./route.ts";
import { shortcutOf } from "./shortcuts.ts";
import { connection, isHelpOpen, known, pageMs, paintings, refusal, route } from "./state.ts";
import { isScrolled, theme } from "./state.ts";
import { afterEvent } from "./stream.ts";
import type { StreamEvent } from "./stream.ts";
import "./style/tokens.css";
import "./style/frame.css";
import "./style/parts.css";
import "./style/map.css";
import "./style/views.css";

const requestMaxMs = 30_000;
/** A preview computes for minutes; its server ends it before. */
const previewMaxMs = previewLimitMs + requestMaxMs;
const reopenMs = 2_000;
/** Of what the browser keeps. */
const themeKey = "theme";
const prefersDark = "(prefers-color-scheme: dark)";

giveEffects({
  go: (wanted) => {
    globalThis.location.hash = hashOf(wanted);
  },
  copy: (text) => navigator.clipboard.writeText(text),
  keepTheme,
  story: async (namespace, cluster, group) =>
    (await (await ask(`story?${query({ namespace, cluster, group })}`)).json()) as Story,
  manifest: async (namespace, cluster) =>
    (await ask(`manifest?${query({ namespace, cluster })}`)).text(),
  preview: async (request, signal) => {
    const headers = { "content-type": "application/json" };
    const options = { method: "POST", headers, body: JSON.stringify(request), signal };
    return (await (await ask("preview", options, previewMaxMs)).json()) as PreviewAnswer;
  },
  onFrame: (draw) => {
    requestAnimationFrame(draw);
  },
});

followAddress();
followScrolling();
followStream();
followClock();
followKeys();
followColors();
const place = document.querySelector("#page");
if (place !== null) render(<App />, place);

function query(parts: Readonly<Record<string, string>>): string {
  return new URLSearchParams(parts).toString();
}

/** The answer, or an error with the sentence that the server gives. */
async function ask(
  path: string,
  options: RequestInit = {},
  maxMs = requestMaxMs,
): Promise<Response> {
  const late = AbortSignal.timeout(maxMs);
  const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
  const answer = await fetch(path, { ...options, signal }).catch((error: unknown) => {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    throw new Error(isLate ? "the server took too long" : "the server does not answer");
  });
  if (answer.ok) return answer;
  const told = (await answer.json().catch(() => ({}))) as Partial<Problem>;
  throw new Error(told.problem ?? `the server answered ${answer.status}`);
}

function followAddress(): void {
  const read = (): void => {
    const before = route.peek();
    const next = routeOf(globalThis.location.hash);
    route.value = next;
    if (before.view !== next.view) globalThis.scrollTo({ top: 0 });
  };
  globalThis.addEventListener("hashchange", read);
  read();
  effect(() => {
    const { value } = route;
    document.title = titleOf(value);
  });
}

function followScrolling(): void {
  // So far is enough to hide name and state of a cluster.
  const headPixels = 60;
  const read = (): void => {
    isScrolled.value = globalThis.scrollY > headPixels;
  };
  globalThis.addEventListener("scroll", read, { passive: true });
  read();
}

function titleOf(shown: Route): string {
  if (shown.view === "clusters") return "FoundationDB clusters";
  return `${shown.name} · ${viewTitles[shown.view]} · FoundationDB`;
}

/** One stream, of the cluster that is looked at; another cluster, another stream. */
function followStream(): void {
  let source: EventSource | undefined;
  let opened: string | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  const open = (path: string): void => {
    source?.close();
    clearTimeout(again);
    opened = path;
    const own = new EventSource(path);
    source = own;
    const hear = (type: StreamEvent["type"]) => (message: MessageEvent<string>) => {
      if (own !== source) return;
      const event = { type, ...(JSON.parse(message.data) as object) } as StreamEvent;
      const next = afterEvent(known.peek(), event, performance.now());
      if (next === undefined) {
        open(path);
        return;
      }
      pageMs.value = performance.now();
      known.value = next;
      connection.value = "open";
      refusal.value = undefined;
    };
    for (const type of ["model", "changes", "tick"] as const) {
      own.addEventListener(type, hear(type));
    }
    own.addEventListener("error", () => {
      if (own !== source) return;
      connection.value = known.peek() === undefined ? "opening" : "lost";
      // A refusal ends the stream for good; a break is mended by the browser itself.
      if (own.readyState !== EventSource.CLOSED) return;
      void tellRefusal(path);
      again = setTimeout(() => open(path), reopenMs);
    });
  };
  effect(() => {
    const { value } = route;
    const path =
      value.view === "clusters"
        ? "events"
        : `events?${query({ namespace: value.namespace, cluster: value.name })}`;
    if (path !== opened) open(path);
  });
  // A page that is put away keeps no connection.
  globalThis.addEventListener("pagehide", () => source?.close());
}

/** A stream says nothing of why it was refused. */
async function tellRefusal(path: string): Promise<void> {
  const stop = new AbortController();
  try {
    const answer = await fetch(path, { signal: stop.signal });
    const told = answer.ok ? {} : ((await answer.json().catch(() => ({}))) as Partial<Problem>);
    refusal.value = answer.ok
      ? undefined
      : (told.problem ?? `the server answered ${answer.status}`);
  } catch {
    // It does not answer: the lost connection is told already.
  } finally {
    stop.abort();
  }
}

function followClock(): void {
  pageMs.value = performance.now();
  setInterval(() => {
    if (document.visibilityState === "visible") pageMs.value = performance.now();
  }, 1_000);
}

function followKeys(): void {
  document.addEventListener("keydown", (event) => {
    const isTyping =
      event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (isTyping || isHelpOpen.peek()) return;
    const found = shortcutOf(event.key, route.peek());
    if (found === undefined) return;
    event.preventDefault();
    switch (found.type) {
      case "go":
        globalThis.location.hash = hashOf(found.route);
        break;
      case "focus":
        document.querySelector<HTMLElement>(found.selector)?.focus();
        break;
      case "help":
        isHelpOpen.value = true;
        break;
      case "theme":
        keepTheme(theme.peek() === "dark" ? "light" : theme.peek() === "light" ? "system" : "dark");
    }
  });
}

function keepTheme(wanted: Theme): void {
  try {
    if (wanted === "system") localStorage.removeItem(themeKey);
    else localStorage.setItem(themeKey, wanted);
  } catch {
    // A browser that keeps nothing forgets the choice with the page.
  }
  applyTheme(wanted);
}

function applyTheme(wanted: Theme): void {
  theme.value = wanted;
  const system = matchMedia(prefersDark).matches ? "dark" : "light";
  document.documentElement.dataset["theme"] = wanted === "system" ? system : wanted;
  paintings.value += 1;
}

function followColors(): void {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(themeKey);
  } catch {
    // As above.
  }
  applyTheme(kept === "dark" || kept === "light" ? kept : "system");
  for (const media of [prefersDark, "(prefers-contrast: more)"]) {
    matchMedia(media).addEventListener("change", () => applyTheme(theme.peek()));
  }
}
