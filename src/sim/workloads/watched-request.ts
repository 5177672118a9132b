// What a request to the API server is about.

export interface Place {
  plural: string;
  name: string;
}

export function placeOf(path: string): Place {
  const [, plural = "", name = ""] = /\/namespaces\/[^/]+\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  return { plural, name };
}
