// What the kubelet asks about images: which can be pulled, what files they hold and what runs in them. Whoever starts a
// kubelet says so. Carries rules KUBELET12 and KUBELET13.
import type { Command } from "../pod/container-command.ts";
import type { Program } from "../pod/container-program.ts";

export interface ContainerImage {
  readonly files: ReadonlyMap<string, string>;
  /**
   * What runs for this command (the image's entry point for an empty one); undefined when there is
   * no such.
   */
  program(command: readonly string[]): Program | undefined;
  /** What runs when somebody asks for a command inside a running container. */
  readonly command: Command;
}

export interface ImageCatalogue {
  find(reference: string): ContainerImage | undefined;
}

export function isImageReference(reference: string): boolean {
  return /^[a-z0-9]+([._:/-]+[a-zA-Z0-9]+)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/.test(
    reference,
  );
}
