// The shapes of states as pictures beside their words. Rules: spec/page.md [PAGE5].
import { markLine, marks } from "./marks.ts";
import type { MarkName } from "./marks.ts";

export function Mark({ name }: { readonly name: MarkName }) {
  const { path, isFilled } = marks[name];
  return (
    <svg class={`shape state-${name}`} viewBox="-8 -8 16 16" aria-hidden="true">
      <path
        d={path}
        fill={isFilled ? "currentColor" : "none"}
        stroke={isFilled ? "none" : "currentColor"}
        stroke-width={markLine}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
