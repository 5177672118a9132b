// Tells the operator's writes about backups and restores from those about clusters. Rules: spec/world.md [W136].
import { copyName } from "../life-terms.ts";

const commands = "(describe|start|modify|discontinue|abort|expire|delete)";
const ofBackups = new RegExp(
  `^\\w+ (foundationdbbackups|foundationdbrestores|events|deployments|configmaps \\S+-timeline$|pods \\S+-${commands}-[0-9a-f]{10}-|pods \\S+-agents-)`,
);

/** A write as `LifeScene.writesSince` has it. Events may be about anything. */
export function isOfBackups(write: string): boolean {
  return ofBackups.test(write);
}

/** About the second cluster, or something that belongs to it. */
export function isOfCopy(write: string): boolean {
  const [, , name = ""] = write.split(" ");
  return name === copyName || name.startsWith(`${copyName}-`);
}
