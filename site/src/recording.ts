/** A line of a terminal, and when it appeared. */
export interface RecordedLine {
  /** Milliseconds since the recording began. */
  readonly at: number;
  readonly text: string;
}

const ROWS = 24;
const COLUMNS = 92;
const LINE_HEIGHT = 18;
const CHARACTER_WIDTH = 8.4;
const PADDING = 16;
/** Longest wait of a recording: longer ones are shortened. */
const LONGEST_WAIT_MS = 1200;
/** Time for which the end is shown. */
const END_MS = 6000;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const colorOf = (text: string): string => {
  if (/^\s*✓|\bsucceeded\b/.test(text)) return "#7ee787";
  if (/^\s*…|\bwaiting\b/.test(text)) return "#d2a8ff";
  return /^\S/.test(text) ? "#f0f6fc" : "#9da7b3";
};

const shortened = (text: string): string =>
  text.length > COLUMNS ? `${text.slice(0, COLUMNS - 1)}…` : text;

/** The same lines with long waits shortened. */
const withoutWaits = (lines: ReadonlyArray<RecordedLine>): ReadonlyArray<RecordedLine> => {
  let before = 0;
  let at = 0;
  return lines.map((line) => {
    at += Math.min(line.at - before, LONGEST_WAIT_MS);
    before = line.at;
    return { text: line.text, at };
  });
};

/**
 * Draws a recording of a terminal as an animated SVG that begins again at its end.
 *
 * @param title text for readers who do not see the picture
 */
export const drawRecording = (recorded: ReadonlyArray<RecordedLine>, title: string): string => {
  const lines = withoutWaits(recorded);
  const total = Math.round(lines.at(-1)?.at ?? 0) + END_MS;
  const percent = (at: number) => `${((at / total) * 100).toFixed(2)}%`;
  const scrolled = (row: number) => Math.max(0, row + 1 - ROWS) * -LINE_HEIGHT;
  const width = Math.round(COLUMNS * CHARACTER_WIDTH + 2 * PADDING);
  const height = ROWS * LINE_HEIGHT + 2 * PADDING;
  const scroll = lines.map(
    ({ at }, row) => `${percent(at)}{transform:translateY(${scrolled(row)}px)}`,
  );
  const appearing = lines.map(
    ({ at }, row) => `@keyframes l${row}{0%{opacity:0}${percent(at)},100%{opacity:1}}`,
  );
  const texts = lines.map(
    ({ text }, row) =>
      `<text y="${(row + 1) * LINE_HEIGHT - 5}" fill="${colorOf(text)}" style="animation-name:l${row}">${escaped(shortened(text))}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}
text,#lines{animation-duration:${total}ms;animation-timing-function:step-end;animation-iteration-count:infinite}
#lines{animation-name:scroll}
@keyframes scroll{0%{transform:translateY(0)}${scroll.join("")}100%{transform:translateY(${scrolled(lines.length - 1)}px)}}
${appearing.join("\n")}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<svg x="${PADDING}" y="${PADDING}" width="${width - 2 * PADDING}" height="${height - 2 * PADDING}">
<g id="lines">
${texts.join("\n")}
</g>
</svg>
</svg>
`;
};
