// A change is written down, and what it would lead to is shown: phases, recoveries, bytes. Nothing is applied.
// Rules: spec/page.md [PAGE16].
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { formatAge } from "../../plugin/explain/words.ts";
import { manyGroups, previewLimitMs } from "../preview-limit.ts";
import type { MapModel, PreviewAnswer, PreviewRequest } from "../view-model.ts";
import { effects } from "./effects.ts";
import { PreviewResult } from "./preview-result.tsx";
import { pageMs } from "./state.ts";

interface PreviewProps {
  readonly namespace: string;
  readonly name: string;
  readonly map: MapModel;
  readonly problem: string | undefined;
}

type ChangeType = PreviewRequest["change"]["type"];

const changes: readonly (readonly [ChangeType, string])[] = [
  ["yaml", "Another resource"],
  ["upgrade", "Another version"],
  ["loseNode", "A node is lost"],
  ["loseZone", "A Kubernetes zone is lost"],
  ["drain", "A node is drained"],
];

/** What is asked for, what was answered, and the asking. */
function usePreview(namespace: string, name: string) {
  const kind = useSignal<ChangeType>("yaml");
  const yaml = useSignal("");
  const target = useSignal("");
  /** By the page's clock, where one is under way. */
  const sinceMs = useSignal<number | undefined>(undefined);
  const ending = useRef<AbortController | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const answer = useSignal<PreviewAnswer | undefined>(undefined);
  useEffect(() => {
    let isWanted = true;
    effects()
      .manifest(namespace, name)
      .then(
        (text) => {
          if (isWanted && yaml.value === "") yaml.value = text;
        },
        (error: unknown) => (failure.value = textOf(error)),
      );
    return () => {
      isWanted = false;
      // Nobody would see it, and nobody else could have one meanwhile.
      ending.current?.abort();
    };
  }, [namespace, name]);
  const ask = async (): Promise<void> => {
    if (sinceMs.value !== undefined) return;
    sinceMs.value = pageMs.value;
    failure.value = undefined;
    answer.value = undefined;
    const end = new AbortController();
    ending.current = end;
    try {
      const change = changeOf(kind.value, yaml.value, target.value.trim());
      answer.value = await effects().preview({ namespace, cluster: name, change }, end.signal);
    } catch (error) {
      failure.value = end.signal.aborted ? "You stopped the preview." : textOf(error);
    }
    sinceMs.value = undefined;
  };
  const stop = (): void => ending.current?.abort();
  return { kind, yaml, target, sinceMs, failure, answer, ask, stop };
}

type Preview = ReturnType<typeof usePreview>;

export function PreviewView({ namespace, name, map, problem }: PreviewProps) {
  const preview = usePreview(namespace, name);
  const { sinceMs, failure, answer } = preview;
  if (problem !== undefined) {
    return (
      <section class="block">
        <h2>Preview</h2>
        <p class="notice">{problem}</p>
      </section>
    );
  }
  const submit = (event: Event): void => {
    event.preventDefault();
    void preview.ask();
  };
  return (
    <section class="preview" aria-labelledby="preview-title">
      <form class="block" onSubmit={submit}>
        <h2 id="preview-title">Preview</h2>
        <p class="dim">
          What would happen, tried out in a simulated copy of this cluster. Nothing is applied.
        </p>
        <ChangeFields preview={preview} map={map} />
        <button type="submit" class="primary" disabled={sinceMs.value !== undefined}>
          {sinceMs.value === undefined ? "Preview" : "Trying it out…"}
        </button>
        <Progress preview={preview} total={map.total} />
        {failure.value === undefined ? null : (
          <p class="notice" role="alert">
            {failure}
          </p>
        )}
      </form>
      {answer.value === undefined ? null : <PreviewResult answer={answer.value} />}
    </section>
  );
}

/** How long it has taken, how long it may take at the most, and a way out. */
function Progress({ preview, total }: { readonly preview: Preview; readonly total: number }) {
  const { sinceMs, stop } = preview;
  const elapsed = useComputed(() => Math.max(0, pageMs.value - (sinceMs.value ?? pageMs.value)));
  const text = useComputed(() => formatAge(elapsed.value));
  if (sinceMs.value === undefined) return null;
  return (
    <div class="preview-progress">
      <button type="button" onClick={stop}>
        Stop
      </button>
      <progress max={previewLimitMs} value={elapsed} aria-label="Time that it has taken" />
      <p class="dim">
        <span role="timer">{text}</span> of at most {formatAge(previewLimitMs)}.{" "}
        <span role="status">
          {total > manyGroups
            ? `A copy of ${total} process groups computes for minutes, and is tried out once.`
            : "It may take a minute."}{" "}
          To go to another view ends it.
        </span>
      </p>
    </div>
  );
}

function ChangeFields({ preview, map }: { readonly preview: Preview; readonly map: MapModel }) {
  const { kind, yaml, target } = preview;
  return (
    <>
      <fieldset class="choices">
        <legend class="visually-hidden">What changes</legend>
        {changes.map(([type, title]) => (
          <label key={type}>
            <input
              type="radio"
              name="change"
              checked={kind.value === type}
              onChange={() => {
                kind.value = type;
                target.value = "";
              }}
            />
            {title}
          </label>
        ))}
      </fieldset>
      {kind.value === "yaml" ? (
        <label class="field">
          <span>The resource as it would be</span>
          <textarea
            rows={18}
            spellcheck={false}
            autocomplete="off"
            value={yaml}
            onInput={(event) => (yaml.value = event.currentTarget.value)}
          />
        </label>
      ) : (
        <Target
          kind={kind.value}
          map={map}
          value={target.value}
          onInput={(text) => (target.value = text)}
        />
      )}
    </>
  );
}

interface TargetProps {
  readonly kind: Exclude<ChangeType, "yaml">;
  readonly map: MapModel;
  readonly value: string;
  readonly onInput: (text: string) => void;
}

/** A version is written; what is lost is chosen of what is there. */
function Target({ kind, map, value, onInput }: TargetProps) {
  if (kind === "upgrade") {
    return (
      <label class="field">
        <span>Version</span>
        <input
          required
          placeholder="7.3.79"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
    );
  }
  const nodes = map.columns.flatMap(({ rows }) => rows.map(({ node }) => node));
  const names = [...new Set(kind === "loseZone" ? map.kubernetesZones : nodes)]
    .filter(Boolean)
    .toSorted();
  return (
    <label class="field">
      <span>{kind === "loseZone" ? "Kubernetes zone" : "Node"}</span>
      <select required value={value} onInput={(event) => onInput(event.currentTarget.value)}>
        <option value="">choose</option>
        {names.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

function changeOf(kind: ChangeType, yaml: string, target: string): PreviewRequest["change"] {
  switch (kind) {
    case "yaml":
      return { type: kind, yaml };
    case "upgrade":
      return { type: kind, version: target };
    case "loseZone":
      return { type: kind, zone: target };
    case "loseNode":
    case "drain":
      return { type: kind, node: target };
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
