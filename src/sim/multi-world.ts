// One database over several Kubernetes clusters: worlds on one ground, each with its own API server, scheduler, kubelet,
// controllers, nodes and operator. Rules: spec/multi.md [MU1], [MU2].
import { addressBlocksMax } from "../emulator/address-block.ts";
import { createGround } from "./ground.ts";
import type { Ground, GroundOptions } from "./ground.ts";
import { startWorldOn } from "./world.ts";
import type { SiteOptions, World } from "./world.ts";

export interface MultiWorldOptions extends GroundOptions {
  sites: readonly (Omit<SiteOptions, "addressBlock"> & { name: string })[];
}

export interface MultiWorld {
  readonly ground: Ground;
  /** In the order of the options. */
  readonly worlds: readonly World[];
  readonly started: Promise<void>;
  stop(): Promise<void>;
}

export function startMultiWorld(options: MultiWorldOptions): MultiWorld {
  const names = new Set(options.sites.map(({ name }) => name));
  if (names.size !== options.sites.length || names.has("") || names.size > addressBlocksMax) {
    throw new RangeError(`each of at most ${addressBlocksMax} clusters needs a name of its own`);
  }
  const ground = createGround(options);
  const worlds = options.sites.map((site, addressBlock) =>
    startWorldOn(ground, { ...site, addressBlock }),
  );
  return {
    ground,
    worlds,
    started: Promise.all(worlds.map((world) => world.started)).then(() => {}),
    stop: async () => void (await Promise.all(worlds.map((world) => world.stop()))),
  };
}
