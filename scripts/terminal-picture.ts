// Draws lines of a terminal, colours included, as an SVG for the documentation. A pure function and nothing else.

const palette: Record<number, string> = {
  32: "#7ec699",
  33: "#e6c07b",
  36: "#6cb6d9",
  90: "#6b7280",
};

interface Span {
  text: string;
  color: string;
  isBold: boolean;
}

export function terminalPicture(lines: readonly string[], columns: number): string {
  const charWidth = 8.43;
  const lineHeight = 19;
  const width = Math.ceil(columns * charWidth) + 32;
  const height = lines.length * lineHeight + 32;
  const rows = lines.map((line, index) => {
    const spans = spansOf(line).map(
      (span) =>
        `<tspan fill="${span.color}"${span.isBold ? ' font-weight="bold"' : ""}>${escapeXml(span.text)}</tspan>`,
    );
    return `<text x="16" y="${28 + index * lineHeight}" xml:space="preserve">${spans.join("")}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="npm start in a terminal">`,
    `<rect width="100%" height="100%" rx="8" fill="#14181f"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`,
    ...rows,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function spansOf(line: string): Span[] {
  const spans: Span[] = [];
  let color = "#d6dae1";
  let isBold = false;
  // oxlint-disable-next-line no-control-regex -- colours are escape sequences
  for (const part of line.split(/(\u001b\[[0-9;]*m)/)) {
    // oxlint-disable-next-line no-control-regex -- colours are escape sequences
    const code = /^\u001b\[([0-9]*)/.exec(part)?.[1];
    if (code === undefined) {
      if (part !== "") spans.push({ text: part, color, isBold });
      continue;
    }
    if (code === "1") isBold = true;
    else if (code === "22") isBold = false;
    else color = palette[Number(code)] ?? "#d6dae1";
  }
  return spans;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
