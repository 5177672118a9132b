// Cluster addresses and node ports of services: what is asked for is checked before anything else is
// judged, then what is missing is given out. The ones in use are read from the store. [KAS42]
import { append } from "../env/long-lists.ts";
import { randomInteger } from "../env/random.ts";
import { canonicalIp, isIpv4 } from "../model/ip-address.ts";
import { isServiceAddress, serviceAddress } from "./address-block.ts";
import { setDefault } from "./defaults-pod.ts";
import { arrayAt, isJsonObject, objectAt, stringAt, type JsonObject } from "./json.ts";
import type { RuleContext } from "./kind.ts";
import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  invalid,
  type FieldError,
} from "./status.ts";

const addressRule = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const nodePortMin = 30_000;
const nodePortMax = 32_767;

export function allocateAddresses(
  service: JsonObject,
  context: RuleContext,
  old: JsonObject | undefined,
): void {
  const spec = objectAt(service, "spec");
  if (spec["type"] === "ExternalName") return;
  const used = othersInUse(context, old);
  refuse(service, addressErrors(spec));
  refuse(service, unavailableErrors(spec, context.addressBlock, used.addresses));
  const wanted = arrayAt(spec, "clusterIPs")[0] ?? spec["clusterIP"];
  const first = typeof wanted === "string" && wanted !== "" ? wanted : undefined;
  const family = firstFamily(spec, first);
  const address = first ?? freeAddress(context, family, used.addresses);
  spec["clusterIP"] = address;
  if (arrayAt(spec, "clusterIPs").length === 0) spec["clusterIPs"] = [address];
  setDefault(spec, "ipFamilies", [family]);
  setDefault(spec, "ipFamilyPolicy", "SingleStack");
  if (spec["type"] !== "NodePort" && spec["type"] !== "LoadBalancer") return;
  refuse(service, allocateNodePorts(spec, context, objectAt(old, "spec"), used.nodePorts));
}

function refuse(service: JsonObject, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw invalid("", "Service", stringAt(service, "metadata", "name"), errors);
}

function addressErrors(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const families = arrayAt(spec, "ipFamilies").map(String);
  for (const [index, family] of families.entries()) {
    const path = `spec.ipFamilies[${index}]`;
    if (!["IPv4", "IPv6"].includes(family)) {
      errors.push(fieldNotSupported(path, family, ["IPv4", "IPv6"]));
    } else if (families.indexOf(family) < index) errors.push(fieldDuplicate(path, family));
  }
  const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
  const policy = spec["ipFamilyPolicy"];
  if (policy !== undefined && !policies.includes(String(policy))) {
    errors.push(fieldNotSupported("spec.ipFamilyPolicy", policy, policies));
  }
  const single = stringAt(spec, "clusterIP");
  const list = arrayAt(spec, "clusterIPs").map(String);
  const addresses = list.length === 0 && single !== "" ? [single] : list;
  if (list.length > 0 && single !== "" && single !== list[0]) {
    errors.push(fieldInvalid("spec.clusterIPs", list, "first value must match `clusterIP`"));
  }
  for (const [index, address] of addresses.entries()) {
    const path = `spec.clusterIPs[${index}]`;
    if (address === "None" && index === 0) {
      if (spec["type"] !== "ClusterIP") {
        const detail = `may not be set to 'None' for ${stringAt(spec, "type")} services`;
        errors.push(fieldInvalid(path, address, detail));
      }
    } else if (address !== "") {
      append(errors, ipErrors(address, path));
    }
  }
  const isSingle = new Set(addresses.map((address) => address.includes(":"))).size;
  if (addresses.length > isSingle && errors.length === 0) {
    const detail = "may specify no more than one IP for each IP family";
    errors.push(fieldInvalid("spec.clusterIPs", addresses, detail));
  }
  return errors;
}

export function ipErrors(address: string, path: string): FieldError[] {
  if (canonicalIp(address) !== undefined) return [];
  const withoutZeros = address.replace(/(^|\.)0+(?=\d)/g, "$1");
  const hasZeros = canonicalIp(withoutZeros) !== undefined;
  return [fieldInvalid(path, address, hasZeros ? "must not have leading 0s" : addressRule)];
}

/** Addresses come from the cluster's own network; IPv6 ones are taken as they are. */
function unavailableErrors(
  spec: JsonObject,
  block: number,
  used: ReadonlySet<unknown>,
): FieldError[] {
  const list = arrayAt(spec, "clusterIPs").map(String);
  const addresses = list.length === 0 ? [stringAt(spec, "clusterIP")] : list;
  return addresses.flatMap((address) => {
    const why =
      isIpv4(address) && !isServiceAddress(block, address)
        ? "the provided network does not match the current range"
        : used.has(address)
          ? "provided IP is already allocated"
          : undefined;
    if (why === undefined) return [];
    return [fieldInvalid("spec.clusterIPs", addresses, `failed to allocate IP ${address}: ${why}`)];
  });
}

function firstFamily(spec: JsonObject, address: string | undefined): string {
  const asked = arrayAt(spec, "ipFamilies")[0];
  if (typeof asked === "string") return asked;
  return address?.includes(":") ? "IPv6" : "IPv4";
}

function freeAddress(context: RuleContext, family: string, used: ReadonlySet<unknown>): string {
  for (;;) {
    const high = randomInteger(context.random, 1, 255);
    const low = randomInteger(context.random, 1, 254);
    const address = serviceAddress(context.addressBlock, family, [high, low]);
    if (!used.has(address)) return address;
  }
}

interface InUse {
  addresses: Set<unknown>;
  nodePorts: Set<unknown>;
}

/** What other services hold; a service that is replaced may keep its own. */
function othersInUse(context: RuleContext, old: JsonObject | undefined): InUse {
  const used: InUse = { addresses: new Set(), nodePorts: new Set() };
  const own = stringAt(old, "metadata", "uid");
  for (const [, service] of context.store.entries("/services", "")) {
    if (own !== "" && stringAt(service, "metadata", "uid") === own) continue;
    for (const address of arrayAt(service, "spec", "clusterIPs")) {
      if (address !== "None") used.addresses.add(address);
    }
    for (const port of arrayAt(service, "spec", "ports")) {
      used.nodePorts.add(objectAt(port)["nodePort"]);
    }
  }
  return used;
}

function allocateNodePorts(
  spec: JsonObject,
  context: RuleContext,
  before: JsonObject,
  used: Set<unknown>,
): FieldError[] {
  const errors: FieldError[] = [];
  const beforePorts = arrayAt(before, "ports");
  arrayAt(spec, "ports").forEach((port, index) => {
    if (!isJsonObject(port)) return;
    port["nodePort"] ??= objectAt(beforePorts[index])["nodePort"] ?? freeNodePort(context, used);
    const nodePort = Number(port["nodePort"]);
    const path = `spec.ports[${index}].nodePort`;
    if (nodePort < nodePortMin || nodePort > nodePortMax) {
      const detail = `provided port is not in the valid range. The range of valid ports is ${nodePortMin}-${nodePortMax}`;
      errors.push(fieldInvalid(path, nodePort, detail));
    } else if (used.has(nodePort)) {
      errors.push(fieldInvalid(path, nodePort, "provided port is already allocated"));
    }
    used.add(nodePort);
  });
  return errors.slice(0, 1);
}

function freeNodePort(context: RuleContext, used: ReadonlySet<unknown>): number {
  for (;;) {
    const port = randomInteger(context.random, nodePortMin, nodePortMax);
    if (!used.has(port)) return port;
  }
}
