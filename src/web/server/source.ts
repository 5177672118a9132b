// What the web server asks for its answers: an API server that is watched, or a file. Rules: spec/web.md [WEB10].
import type { PageModel, PreviewAnswer, PreviewRequest, Story } from "../view-model.ts";

export interface ClusterRef {
  readonly namespace: string;
  readonly name: string;
}

/** Somebody who looks. */
export interface Look {
  /** Resolves soon: when what was asked for has been read as far as it can be, or takes too long. */
  readonly ready: Promise<void>;
  /** As it is now; the very same object while nothing has changed. */
  model(): PageModel;
  /** Nobody looks any more. */
  end(): void;
}

export interface Source {
  /** The time of the API server. */
  nowMs(): number;
  /** `onNews` is called when the model may have become another. */
  look(cluster: ClusterRef | undefined, onNews: () => void): Look;
  /** Undefined when there is no such process group. */
  story(cluster: ClusterRef, group: string): Story | undefined;
  /** The resource as YAML, without its status; undefined when there is none. */
  manifest(cluster: ClusterRef): Promise<string | undefined>;
  /** Throws a `WebProblem` when it cannot be made. */
  preview(request: PreviewRequest, signal: AbortSignal): Promise<PreviewAnswer>;
}

/** An answer that is no success, with a sentence for the person who sees the page. */
export class WebProblem extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "WebProblem";
    this.status = status;
  }
}
