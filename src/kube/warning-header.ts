// Reads the Warning header of HTTP (RFC 7234, 5.5): `299 - "text", 299 - "text"`, with backslash escapes in
// the quoted text. Kubernetes sends deprecations and dubious values this way. Carries rule KUBE13.

export function parseWarnings(header: string | string[] | undefined): string[] {
  const values = header === undefined ? [] : Array.isArray(header) ? header : [header];
  return values.flatMap(parseOne);
}

function parseOne(header: string): string[] {
  const warnings: string[] = [];
  const pattern = /(\d{3}) \S+ "((?:[^"\\]|\\.)*)"/g;
  for (const [, code, quoted] of header.matchAll(pattern)) {
    if (code === "299" && quoted !== undefined) warnings.push(quoted.replaceAll(/\\(.)/g, "$1"));
  }
  return warnings;
}
