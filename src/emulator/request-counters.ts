// Counts requests by verb and resource, for measurements.
import type { KubeRequest } from "../kube/transport.ts";
import { parseResourcePath } from "./request-path.ts";

const writeVerbs = new Set(["create", "update", "patch", "delete", "deletecollection"]);

export class RequestCounters {
  readonly #counts = new Map<string, number>();

  count(request: KubeRequest): void {
    const path = parseResourcePath(request.path);
    if (path === undefined) return;
    const resource = path.subresource === "" ? path.plural : `${path.plural}/${path.subresource}`;
    const key = `${verbOf(request, path.name !== "")} ${resource}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Counts by "verb resource", for example "create pods". */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  get total(): number {
    return this.#sum(() => true);
  }

  get writes(): number {
    return this.#sum((verb) => writeVerbs.has(verb));
  }

  reset(): void {
    this.#counts.clear();
  }

  #sum(isCounted: (verb: string) => boolean): number {
    let sum = 0;
    for (const [key, count] of this.#counts) if (isCounted(key.split(" ")[0] ?? "")) sum += count;
    return sum;
  }
}

export function verbOf(request: KubeRequest, hasName: boolean): string {
  switch (request.method) {
    case "GET":
      if (request.query?.["watch"] === "true" || request.query?.["watch"] === "1") return "watch";
      return hasName ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return hasName ? "delete" : "deletecollection";
  }
}
