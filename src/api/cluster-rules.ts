// Rules of a cluster's spec that span several fields and that the API server can judge alone (CEL).
// The strings that they look at have a maximum length, which keeps the estimated cost within its
// limit.
import type { ValidationRule } from "../kube/structural/structural-schema.ts";

/** Versions are found anywhere in the text, so only the clear cases are judged here. */
export const versionRules: readonly ValidationRule[] = [
  {
    rule: "!self.matches('^[^0-9]*([0-6]|7\\\\.0)\\\\.')",
    message: "FoundationDB before 7.1.0 is not supported",
  },
  {
    // Larger numbers than programs count with would never be what runs.
    rule: "!self.matches('[0-9]{10}')",
    message: "a number of a version has at most nine digits",
  },
];

const automation = "self.automationOptions";
const isSetToGlobal = (field: string): string =>
  `(has(${automation}.${field}) && ${automation}.${field} == 'global')`;
const isGlobal =
  `has(${automation}) && ` +
  `(${isSetToGlobal("synchronizationMode")} || ${isSetToGlobal("synronizationMode")})`;
const isPacked =
  "has(self.distributionConfig) && has(self.distributionConfig.enabled) " +
  "&& self.distributionConfig.enabled";
const mode =
  "(has(self.databaseConfiguration) && has(self.databaseConfiguration.redundancy_mode)" +
  " ? self.databaseConfiguration.redundancy_mode : 'double')";
const faultDomainKey =
  "(has(self.faultDomain) && has(self.faultDomain.key) ? self.faultDomain.key : '')";
const regionCount =
  "(has(self.databaseConfiguration) && has(self.databaseConfiguration.regions)" +
  " ? self.databaseConfiguration.regions.size() : 0)";

export const clusterRules: readonly ValidationRule[] = [
  {
    rule: `!(${isGlobal}) || (has(self.processGroupIDPrefix) && self.processGroupIDPrefix != '')`,
    message: "synchronizationMode global needs a processGroupIDPrefix that names this instance",
    fieldPath: ".processGroupIDPrefix",
  },
  {
    rule:
      `!(${isGlobal}) || !has(self.lockOptions) || !has(self.lockOptions.disableLocks)` +
      " || !self.lockOptions.disableLocks",
    message: "synchronizationMode global needs locks: do not set disableLocks to true",
    fieldPath: ".lockOptions.disableLocks",
  },
  {
    rule: `!(${mode} in ['three_datacenter', 'three_datacenter_fallback']) || ${regionCount} == 0`,
    message: "three_datacenter cannot be combined with regions",
    fieldPath: ".databaseConfiguration.regions",
  },
  {
    rule:
      `!(${isPacked}) || !(${faultDomainKey} in ` +
      "['foundationdb.org/none', 'foundationdb.org/kubernetes-cluster'])",
    message: "distributionConfig needs nodes as fault domains: choose another faultDomain.key",
    fieldPath: ".faultDomain.key",
  },
  {
    rule:
      `!(${isPacked}) || !has(self.faultDomain) || !has(self.faultDomain.valueFrom)` +
      " || self.faultDomain.valueFrom == ''",
    message: "distributionConfig names the zones itself: remove faultDomain.valueFrom",
    fieldPath: ".faultDomain.valueFrom",
  },
  {
    rule:
      `!(${isPacked}) || !has(self.localities) || !self.localities.exists(l, ` +
      "l.key in ['zone', 'zoneid'] && ((has(l.value) && l.value != '') " +
      "|| (has(l.envValue) && l.envValue != '')))",
    message:
      "distributionConfig names the zones itself: a zone locality may only have a topologyKey",
    fieldPath: ".localities",
  },
];
