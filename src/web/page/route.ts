// Which view of which cluster is shown: the part of the address after "#", so that a view can be kept, sent and gone back to.
// Pure. Rules: spec/page.md [PAGE3].

export const clusterViews = ["map", "now", "time-line", "figures", "backups", "preview"] as const;
export type ClusterView = (typeof clusterViews)[number];

export type Route =
  | { readonly view: "clusters" }
  | {
      readonly view: ClusterView;
      readonly namespace: string;
      readonly name: string;
      /** The process group whose story is told. */
      readonly group?: string;
    };

export const viewTitles: Readonly<Record<ClusterView, string>> = {
  map: "Map",
  now: "Now",
  "time-line": "Time line",
  figures: "Figures",
  backups: "Backups",
  preview: "Preview",
};

/** An address that cannot be understood leads to the clusters. */
export function routeOf(hash: string): Route {
  const [first, namespace = "", name = "", view = "map", group = "", ...more] = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decoded);
  const known = clusterViews.find((one) => one === view);
  if (first !== "cluster" || namespace === "" || name === "" || known === undefined) {
    return { view: "clusters" };
  }
  if (more.length > 0) return { view: known, namespace, name };
  return { view: known, namespace, name, ...(group === "" ? {} : { group }) };
}

export function hashOf(route: Route): string {
  if (route.view === "clusters") return "#/";
  const { namespace, name, view, group } = route;
  const steps = ["cluster", namespace, name, view, ...(group === undefined ? [] : [group])];
  return `#/${steps.map(encodeURIComponent).join("/")}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
