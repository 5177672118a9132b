// What Kubernetes takes as the key and the value of a label, and as the key of an annotation.

const dnsName = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const namePattern = new RegExp(`^${dnsName}$`);
const labelNamePattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

export const labelKeyMessage =
  "a name of letters, digits, dashes, underscores and dots, at most 63 long, " +
  "with an optional DNS name and a slash before it";

export const labelValueMessage =
  "letters, digits, dashes, underscores and dots, at most 63 long, " +
  "with a letter or digit at both ends";

/** The name of an object. */
export function isObjectName(name: string): boolean {
  return name.length <= 253 && namePattern.test(name);
}

export function isLabelKey(key: string): boolean {
  const [first = "", second, ...rest] = key.split("/", 3);
  if (rest.length > 0) return false;
  if (second === undefined) return labelNamePattern.test(first);
  return isObjectName(first) && labelNamePattern.test(second);
}

export function isLabelValue(value: string): boolean {
  return value === "" || labelNamePattern.test(value);
}

export function isAnnotationKey(key: string): boolean {
  return isLabelKey(key.toLowerCase());
}
