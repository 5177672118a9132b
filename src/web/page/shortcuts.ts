// What a key means anywhere on the page. Keys that are typed into a field, or pressed with Ctrl, Alt or the command key, mean nothing here.
// Pure. Rules: spec/page.md [PAGE8].
import { clusterViews } from "./route.ts";
import type { Route } from "./route.ts";

export type Shortcut =
  | { readonly type: "go"; readonly route: Route }
  | { readonly type: "focus"; readonly selector: string }
  | { readonly type: "help" }
  | { readonly type: "theme" };

export function shortcutOf(key: string, route: Route): Shortcut | undefined {
  if (key === "?") return { type: "help" };
  if (key === "d") return { type: "theme" };
  if (key === "g") return { type: "go", route: { view: "clusters" } };
  if (route.view === "clusters")
    return key === "/" ? { type: "focus", selector: "#filter" } : undefined;
  const { namespace, name, group, view } = route;
  if (key === "m" && view === "map") return { type: "focus", selector: ".map-tiles" };
  if (key === "Escape" && group !== undefined) {
    return { type: "go", route: { view, namespace, name } };
  }
  const chosen = clusterViews[Number(key) - 1];
  return chosen === undefined
    ? undefined
    : { type: "go", route: { view: chosen, namespace, name } };
}
