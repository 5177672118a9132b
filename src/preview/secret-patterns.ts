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

/** `replace` gets each secret and gives the text that stands in its place. */
type Replace = (secret: string) => string;

interface Pattern {
  readonly expression: RegExp;
  readonly replaced: (match: readonly string[], replace: Replace) => string;
}

const value = `[^\\s"'\\\\,;&)}\\]]+`;

const patterns: readonly Pattern[] = [
  {
    // A log that was cut may end within a key.
    expression:
      /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY-----|[A-Za-z0-9+/=\s\\]*)/g,
    replaced: ([whole = ""], replace) => replace(whole),
  },
  {
    // The secret of an account of an object store may hold slashes.
    expression: /(blobstore:\/\/)([^\s"'<>?]*)@/gi,
    replaced: ([, scheme = "", user = ""], replace) => `${scheme}${userInfo(user, replace)}@`,
  },
  {
    expression: /\b([a-z][a-z0-9+.-]*:\/\/)([^\s/"'<>?#]+)@(?!sha256:)/gi,
    replaced: ([, scheme = "", user = ""], replace) => `${scheme}${userInfo(user, replace)}@`,
  },
  {
    // A connection string, or an account and its password; the digest of an image is neither.
    expression:
      /(^|[^A-Za-z0-9_./-])([A-Za-z0-9_.-]+):([^\s@:/"'<>,]+)@(?!sha256:)(?=[A-Za-z0-9[])/g,
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
    expression: /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
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
      `([A-Za-z0-9_.-]*(?:${secretWords})[A-Za-z0-9_.-]*)(\\\\?["']?\\s*[=:]\\s*\\\\?["']?)(${value})`,
      "gi",
    ),
    replaced: ([whole = "", name = "", between = "", secret = ""], replace) =>
      isNamedSecret(name, secret) ? `${name}${between}${replace(secret)}` : whole,
  },
  {
    expression: new RegExp(
      `(--?[A-Za-z0-9_-]*(?:${secretWords})[A-Za-z0-9_-]*)(\\s+)(${value})`,
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
  for (const { expression, replaced } of patterns) {
    result = result.replace(expression, (...match: unknown[]) =>
      replaced(match as readonly string[], replace),
    );
  }
  return result;
}

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
