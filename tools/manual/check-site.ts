// Faults of a built site: links and anchors that lead nowhere, and whatever a browser would ask of another host or refuse under
// the policy of the pages. Reads the files alone and needs no package. Rules: spec/manual.md [MAN7], [MAN8].
import { globSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";

export function siteFaults(folder: string): readonly string[] {
  const files = globSync("**/*", { cwd: folder })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => statSync(join(folder, file)).isFile())
    .sort();
  const texts = new Map(
    files
      .filter((file) => /\.(html|css|js|svg)$/.test(file))
      .map((file) => [file, readFileSync(join(folder, file), "utf8")]),
  );
  const ids = new Map([...texts].map(([file, text]) => [file, idsOf(text)]));
  const isThere = (file: string, anchor: string | undefined): boolean =>
    files.includes(file) && (anchor === undefined || ids.get(file)?.has(anchor) === true);
  return [...texts].flatMap(([file, text]) => {
    if (file.endsWith(".html")) return pageFaults(file, text, isThere);
    return foreignIn(text).map((what) => `${file}: asks another host: ${what}`);
  });
}

function pageFaults(
  file: string,
  html: string,
  isThere: (file: string, anchor: string | undefined) => boolean,
): string[] {
  const faults: string[] = [];
  if (!/<meta http-equiv="Content-Security-Policy" content="default-src 'none';/.test(html)) {
    faults.push("has no policy that refuses other hosts");
  }
  for (const [tag, name = ""] of html.matchAll(/<([a-z][a-z0-9]*)\b[^>]*>/g)) {
    for (const [, attribute = "", value = ""] of tag.matchAll(/\s([a-z-]+)="([^"]*)"/g)) {
      const fault = attributeFault(file, name, attribute, value, isThere);
      if (fault !== undefined) faults.push(fault);
    }
  }
  if (/<script(?![^>]*\ssrc=)[^>]*>|<style/.test(html)) {
    faults.push("holds a script or a style, which its policy refuses");
  }
  return faults.map((fault) => `${file}: ${fault}`);
}

/** A person may follow a link to another host; a browser asks none by itself. */
function attributeFault(
  file: string,
  tag: string,
  attribute: string,
  value: string,
  isThere: (file: string, anchor: string | undefined) => boolean,
): string | undefined {
  if (attribute === "style" || attribute.startsWith("on")) {
    return `holds ${attribute}="${value}", which its policy refuses`;
  }
  if (!["href", "src", "srcset", "poster", "action", "data"].includes(attribute)) return undefined;
  if (/^([a-z][a-z+.-]*:|\/\/)/i.test(value)) {
    return tag === "a" ? undefined : `asks another host: ${value}`;
  }
  if (value.startsWith("/"))
    return `has a link that wants the site at the top of a server: ${value}`;
  const [path = "", anchor] = decoded(value).split("#");
  const target = path === "" ? file : posix.join(posix.dirname(file), path);
  return isThere(target, anchor) ? undefined : `has a link that leads nowhere: ${value}`;
}

function idsOf(html: string): ReadonlySet<string> {
  return new Set([...html.matchAll(/\sid="([^"]*)"/g)].map((match) => decoded(match[1] ?? "")));
}

/** Addresses in styles, scripts and pictures that a browser would ask. Names of XML namespaces are asked of nobody. */
function foreignIn(text: string): string[] {
  const loads =
    /(?:url\(|@import|\bfetch\(|\bimport\(|\b(?:xlink:)?href=|\bsrc=)\s*["']?((?:https?:)?\/\/[^"')\s]+)/g;
  return [...text.matchAll(loads)].map((match) => match[1] ?? "");
}

function decoded(value: string): string {
  return decodeURI(value)
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
