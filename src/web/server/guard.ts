// Who may ask. A page of another site can send requests to this machine, and can make its own name mean 127.0.0.1: so the
// host, the origin and a cookie that only the printed address gives are looked at before anything else. Other users of
// this machine have no cookie. Pure. Rules: spec/web.md [WEB20]-[WEB23].
import { createHash, timingSafeEqual } from "node:crypto";
import { WebProblem } from "./source.ts";

export interface Asked {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Throws a `WebProblem` when the request does not come from this server's own page or from a person's address bar. */
export function refuseForeign({ method, headers }: Asked, port: number): void {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const host = text(headers["host"]);
  if (!hosts.includes(host)) {
    throw new WebProblem(
      403,
      `the dashboard is asked as ${hosts.join(" or ")}, not as another host`,
    );
  }
  const origin = headers["origin"];
  // Browsers name the origin of everything that is no GET or HEAD.
  const needsOrigin = method !== "GET" && method !== "HEAD";
  if (origin === undefined ? needsOrigin : text(origin) !== `http://${host}`) {
    throw new WebProblem(403, "a page of another site may not ask the dashboard");
  }
  const site = headers["sec-fetch-site"];
  if (site !== undefined && text(site) !== "same-origin" && text(site) !== "none") {
    throw new WebProblem(403, "a page of another site may not ask the dashboard");
  }
}

/** Cookies are shared by all ports of a host, so that each dashboard has its own. */
export function cookieName(port: number): string {
  return `fdb-dashboard-${port}`;
}

export function hasKey({ headers }: Asked, port: number, key: string): boolean {
  const start = `${cookieName(port)}=`;
  return text(headers["cookie"])
    .split(";")
    .map((one) => one.trim())
    .some((one) => one.startsWith(start) && isSame(one.slice(start.length), key));
}

/** In a time that tells nothing of the key. */
export function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function digest(value: string): Buffer {
  return createHash("sha256").update(value).digest();
}

function text(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : "";
}

/** With every answer. */
export const safetyHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
    ...["img-src 'self' data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ].join("; "),
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};
