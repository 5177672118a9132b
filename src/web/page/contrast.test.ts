// Marks are seen: each stands out from its tile, in dark and in light. Rules: spec/page.md [PAGE13].
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tileStates } from "./words.ts";

const style = readFileSync(join(import.meta.dirname, "style/tokens.css"), "utf8");
const [light = "", dark = ""] = style.split(':root[data-theme="dark"]');

/** What WCAG asks of what is no text. */
const contrastMin = 3;
/** And of text. */
const textContrastMin = 4.5;

for (const [scheme, tokens] of Object.entries({ light, dark })) {
  test(`[PAGE13] every mark stands out from its tile: ${scheme}`, () => {
    for (const state of tileStates) {
      const mark = colorOf(tokens, state === "well" ? "good" : state);
      const contrast = contrastOf(mark, colorOf(tokens, `${state}-surface`));
      assert.ok(contrast >= contrastMin, `${state}: ${contrast}`);
    }
  });
}

for (const [scheme, tokens] of Object.entries({ light, dark })) {
  test(`[PAGE13] a button can be read, also while it does nothing: ${scheme}`, () => {
    const frame = readFileSync(join(import.meta.dirname, "style/frame.css"), "utf8");
    for (const selector of ["button.primary", "button.primary:disabled"]) {
      const [, rules = ""] = frame.split(`${selector} {`);
      const [own = ""] = rules.split("}");
      const used = (property: string): string => {
        const [, name = ""] = new RegExp(`\\b${property}: var\\(--([\\w-]+)\\)`).exec(own) ?? [];
        return colorOf(tokens, name);
      };
      assert.doesNotMatch(own, /opacity/);
      const [, color = ""] = /(?<!-)color: var\(--([\w-]+)\)/.exec(own) ?? [];
      assert.ok(
        contrastOf(colorOf(tokens, color), used("background")) >= textContrastMin,
        selector,
      );
    }
  });
}

function colorOf(tokens: string, name: string): string {
  const [, color = ""] = new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(tokens) ?? [];
  assert.notEqual(color, "", name);
  return color;
}

function contrastOf(left: string, right: string): number {
  const [least = 0, most = 0] = [luminanceOf(left), luminanceOf(right)].toSorted((a, b) => a - b);
  return (most + 0.05) / (least + 0.05);
}

/** As WCAG defines it. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
