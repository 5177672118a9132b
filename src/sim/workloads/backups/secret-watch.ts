// Looks for secrets where none may be: in objects of Kubernetes, in events and in the log. Rules: spec/world.md [W134].

type JsonObject = Readonly<Record<string, unknown>>;

/** Of the credentials file, and the one that a person writes into an account. */
export const fileSecret = "c3cr3t-0f-the-f1le";
export const accountSecret = "c3cr3t-0f-the-acc0unt";

/** What an object shows that it must not; undefined when it is well. */
export function shownSecret(storageKey: string, object: JsonObject): string | undefined {
  if (storageKey === "/secrets") return undefined;
  const text = JSON.stringify(object);
  if (text.includes(fileSecret)) return fileSecret;
  if (!text.includes(accountSecret)) return undefined;
  return JSON.stringify(withoutOwn(storageKey, object)).includes(accountSecret)
    ? accountSecret
    : undefined;
}

/**
 * Its owner wrote it into the spec, and commands need it among their arguments. What a tool prints before it fails stands in
 * the status of that very pod: the kubelet writes it there, and who may read it reads the arguments, too.
 */
function withoutOwn(storageKey: string, object: JsonObject): JsonObject {
  if (!/\/(foundationdbbackups|foundationdbrestores|pods)$/.test(storageKey)) return object;
  const { spec, status, ...rest } = object;
  const isQuoted = storageKey === "/pods" && JSON.stringify(spec ?? {}).includes(accountSecret);
  return isQuoted ? rest : { ...rest, status };
}
