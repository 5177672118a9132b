// Secrets that a free text tells by their form: keys in PEM, user info in URLs, connection strings, tokens, values whose
// name says that they are secret. Each finding is a secret and where in the text it stands. Rule PIC12.

/** Words in the name of a variable, a parameter or a header that make its value a secret. */
const secretWords =
  "pass(?:word|wd|phrase)|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|" +
  "account[_-]?key|credential|signature|cookie";

const secretName = new RegExp(secretWords, "i");
/** Where something secret lies is none, and neither is its size. */
const placeName = /(?:file|path|name|ref|dir|type|bytes|count|size|seconds|ttl)s?$/i;

export function isSecretName(name: string): boolean {
  return secretName.test(name) && !placeName.test(name);
}

/** A number or a switch, as the values of knobs are. */
export function isPlainSetting(value: string): boolean {
  return /^(?:true|false|[-+]?\d{1,9}(?:\.\d+)?(?:[KMGT]i?B?|ms|[smhd])?)$/i.test(value);
}

/*
 * Every part of an expression has a limit, and names begin where a word begins: a megabyte of one letter must not take
 * longer than a megabyte of text.
 */

/** `replace` gets each secret and gives the text that stands in its place. */
type Replace = (secret: string) => string;

interface Pattern {
  /** Without it the expression cannot match. */
  readonly hint?: string;
  readonly expression: RegExp;
  readonly replaced: (match: readonly string[], replace: Replace) => string;
}

const value = `[^\\s"'\\\\,;&)}\\]]+`;

const patterns: readonly Pattern[] = [
  {
    // A log that was cut may end within a key; its lines may begin with times.
    hint: "PRIVATE KEY-----",
    expression:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:[\s\S]{0,20000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|[\s\S]{0,4000})/g,
    replaced: ([whole = ""], replace) => replace(whole),
  },
  {
    // The secret of an account of an object store may hold slashes.
    expression: /(blobstore:\/\/)([^\s"'<>?]{0,1000})@/gi,
    replaced: ([, scheme = "", user = ""], replace) => `${scheme}${userInfo(user, replace)}@`,
  },
  {
    expression: /\b([a-z][a-z0-9+.-]{0,30}:\/\/)([^\s/"'<>?#]{1,1000})@(?!sha256:)/gi,
    replaced: ([, scheme = "", user = ""], replace) => `${scheme}${userInfo(user, replace)}@`,
  },
  {
    // A connection string, or an account and its password; the digest of an image is neither.
    expression:
      /(^|[^A-Za-z0-9_./-])([A-Za-z0-9_.-]{1,200}):([^\s@:/"'<>,]{1,1000})@(?!sha256:)(?=[A-Za-z0-9[])/g,
    replaced: ([, before = "", name = "", secret = ""], replace) =>
      `${before}${name}:${kept(secret) ? secret : replace(secret)}@`,
  },
  {
    expression: /\b(Bearer\s+|AWS4-HMAC-SHA256\s+)([A-Za-z0-9._~+/=-]{8,})/gi,
    replaced: ([, before = "", secret = ""], replace) => before + replace(secret),
  },
  {
    expression:
      /(authorization\\?["']?\s*[:=]\s*\\?["']?(?:(?:Basic|Token|Digest|ApiKey)\s+)?)([^\s"'\\,;]+)/gi,
    replaced: ([whole = "", before = "", secret = ""], replace) =>
      /^(?:Bearer|AWS4-HMAC-SHA256)$/i.test(secret) || kept(secret)
        ? whole
        : before + replace(secret),
  },
  {
    expression: /\b(Basic\s+)([A-Za-z0-9+/]{6,}={0,2})(?=$|[\s"'\\,;])/g,
    replaced: ([, before = "", secret = ""], replace) =>
      before + (/[A-Z0-9=]/.test(secret.slice(1)) ? replace(secret) : secret),
  },
  {
    expression: /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
    replaced: ([whole = ""], replace) => replace(whole),
  },
  {
    // The forms by which well-known services mark their own keys.
    expression:
      /\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}|gh[opsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|glpat-[\w-]{16,}|sk-[\w-]{20,})/g,
    replaced: ([whole = ""], replace) => replace(whole),
  },
  {
    // password=…, "token": "…", --secret …, also where the quotes are escaped.
    expression: new RegExp(
      `(?<![A-Za-z0-9_.-])([A-Za-z0-9_.-]{0,80}?(?:${secretWords})[A-Za-z0-9_.-]{0,80})(\\\\?["']?\\s*[=:]\\s*\\\\?["']?)(${value})`,
      "gi",
    ),
    replaced: ([whole = "", name = "", between = "", secret = ""], replace) =>
      isNamedSecret(name, secret) ? `${name}${between}${replace(secret)}` : whole,
  },
  {
    expression: new RegExp(
      `(?<![A-Za-z0-9_-])(--?[A-Za-z0-9_-]{0,80}?(?:${secretWords})[A-Za-z0-9_-]{0,80})(\\s+)(${value})`,
      "gi",
    ),
    replaced: ([whole = "", name = "", between = "", secret = ""], replace) =>
      isNamedSecret(name, secret) && !secret.startsWith("-")
        ? `${name}${between}${replace(secret)}`
        : whole,
  },
  {
    expression: /(\s-u\s+|\s--user[=\s]+)([^\s:"']+):([^\s"']+)/g,
    replaced: ([, flag = "", name = "", secret = ""], replace) =>
      `${flag}${name}:${kept(secret) ? secret : replace(secret)}`,
  },
];

/** Replaces each secret that its form gives away. */
export function replaceSecrets(text: string, replace: Replace): string {
  // Nearly all texts are names and numbers: none of the patterns can match without one of these.
  if (
    text.length < 6 ||
    !/[=:@\s]|eyJ|AKIA|ASIA|gh[opsu]_|xox|AIza|ya29|glpat|sk-|pat_/.test(text)
  ) {
    return text;
  }
  let result = text;
  for (const { hint, expression, replaced } of patterns) {
    if (hint !== undefined && !result.includes(hint)) continue;
    result = result.replace(expression, (...match: unknown[]) =>
      replaced(match as readonly string[], replace),
    );
  }
  return withoutKeyEnds(result, replace);
}

/** A log may begin within a key: the lines before its end that look like parts of it belong to it. */
function withoutKeyEnds(text: string, replace: Replace): string {
  const parts: string[] = [];
  let rest = text;
  for (;;) {
    const end = rest.includes(keyEnd) ? keyEndLine.exec(rest) : null;
    if (end === null) return parts.join("") + rest;
    const lines = rest.slice(0, end.index).split("\n");
    let first = lines.length - 1;
    while (first > 0 && /[A-Za-z0-9+/=]{2,80}\s?$/.test(lines[first - 1]?.slice(-82) ?? ""))
      first -= 1;
    for (const line of lines.slice(0, first)) parts.push(`${line}\n`);
    parts.push(replace("a private key"));
    rest = rest.slice(end.index + end[0].length);
  }
}

const keyEnd = "PRIVATE KEY-----";
const keyEndLine = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/;

function isNamedSecret(name: string, secret: string): boolean {
  if (!isSecretName(name) || kept(secret)) return false;
  return !(/knob_/i.test(name) && isPlainSetting(secret));
}

/** Key, secret and token of an account, or name and password, each for itself. */
export function userInfo(user: string, replace: Replace): string {
  return user
    .split(":")
    .map((part) => (part === "" || kept(part) ? part : replace(decoded(part))))
    .join(":");
}

/** Left out by somebody before, or replaced before. */
function kept(text: string): boolean {
  return /^\*+$/.test(text) || isPlaceholder(text) || /^\$[({]?\w+[)}]?$/.test(text);
}

export const placeholderWord = "REDACTED";

export function isPlaceholder(text: string): boolean {
  return /^REDACTED\d+$/.test(text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that escapes nothing stands for itself.
    return text;
  }
}
