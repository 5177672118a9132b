// Where the addresses of one emulated Kubernetes cluster lie, so that several of them can share one network: block n is
// 10.(16n).0.0/12, its first sixteenth for nodes and services, the rest for pods. Carries rule MU2.

export const addressBlocksMax = 16;

export function nodeAddress(block: number, number: number): string {
  return `10.${16 * block}.${(number >> 8) & 255}.${number & 255}`;
}

export function podAddresses(block: number, number: number): { ipv4: string; ipv6: string } {
  const first = 16 * block + 1;
  return {
    ipv4: `10.${first + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`,
    ipv6: `fd00:10:${first}::${number.toString(16)}`,
  };
}

export function serviceAddress(
  block: number,
  family: string,
  [high, low]: readonly [number, number],
): string {
  if (family !== "IPv6") return `10.${16 * block}.${high}.${low}`;
  const network = block === 0 ? "fd00" : `fd00:${16 * block}`;
  return `${network}::${high.toString(16)}${low.toString(16)}`;
}

/** Where the IPv4 addresses of services come from. */
export function serviceNetwork(block: number): string {
  return `10.${16 * block}.0.0/16`;
}

/** The first and the last address of a network belong to nobody. */
export function isServiceAddress(block: number, address: string): boolean {
  const network = `10.${16 * block}`;
  const isInside = address.startsWith(`${network}.`) && /^10(\.\d+){3}$/.test(address);
  return isInside && address !== `${network}.0.0` && address !== `${network}.255.255`;
}

/** The block that a pod's address comes from. */
export function blockOf(address: string): number | undefined {
  const found = /^10\.(\d+)\./.exec(address) ?? /^fd00:10:(\d+):/.exec(address);
  return found === null ? undefined : Math.floor(Number(found[1]) / 16);
}
