// What the page asks of the browser, given by main.tsx: everything else in this folder only computes and draws.
import type { PreviewAnswer, PreviewRequest, Story } from "../view-model.ts";
import type { Route } from "./route.ts";

export interface Effects {
  go(route: Route): void;
  copy(text: string): Promise<void>;
  keepTheme(theme: Theme): void;
  story(namespace: string, cluster: string, group: string): Promise<Story>;
  manifest(namespace: string, cluster: string): Promise<string>;
  /** Ends it on the server, too, when the signal is given. */
  preview(request: PreviewRequest, signal: AbortSignal): Promise<PreviewAnswer>;
  /** At the next frame that the browser draws. */
  onFrame(draw: () => void): void;
}

export type Theme = "dark" | "light" | "system";

let given: Effects | undefined;

export function giveEffects(all: Effects): void {
  given = all;
}

export function effects(): Effects {
  if (given === undefined) throw new Error("main.tsx gives the effects first");
  return given;
}
