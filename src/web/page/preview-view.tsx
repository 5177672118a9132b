// A change is written down, and what it would lead to is shown: phases, recoveries, bytes. Nothing is applied.
// Rules: spec/page.md [PAGE16].
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { MapModel, PreviewAnswer, PreviewRequest } from "../view-model.ts";
import { effects } from "./effects.ts";
import { PreviewResult } from "./preview-result.tsx";

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
  const isBusy = useSignal(false);
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
    };
  }, [namespace, name]);
  const ask = async (): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    failure.value = undefined;
    answer.value = undefined;
    try {
      const change = changeOf(kind.value, yaml.value, target.value.trim());
      answer.value = await effects().preview({ namespace, cluster: name, change });
    } catch (error) {
      failure.value = textOf(error);
    }
    isBusy.value = false;
  };
  return { kind, yaml, target, isBusy, failure, answer, ask };
}

type Preview = ReturnType<typeof usePreview>;

export function PreviewView({ namespace, name, map, problem }: PreviewProps) {
  const preview = usePreview(namespace, name);
  const { isBusy, failure, answer } = preview;
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
        <button type="submit" class="primary" disabled={isBusy.value}>
          {isBusy.value ? "Trying it out…" : "Preview"}
        </button>
        <span role="status" class="dim">
          {isBusy.value ? " This may take a minute." : ""}
        </span>
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
