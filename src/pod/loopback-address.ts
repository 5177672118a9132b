// Addresses of pods whose processes really listen: every pod has its own one in 127.0.0.0/8, which the machine
// answers for without any setup. Rule: spec/real-database.md [DB60].

/** The nth address, from 127.83.0.1 on; the part of the machine's own 127.0.0.1 is left alone. */
export function loopbackAddress(number: number): string {
  const [high, middle, low] = [83 + (number >> 16), (number >> 8) & 255, number & 255];
  if (number < 1 || high > 254) throw new Error(`there is no loopback address ${number}`);
  return `127.${high}.${middle}.${low}`;
}
