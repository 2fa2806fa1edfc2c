/** Where each state is drawn. */
const PLACES: Readonly<Record<string, readonly [number, number]>> = {
  ready: [130, 130],
  sending: [420, 60],
  done: [700, 130],
  undone: [800, 260],
  unknown: [420, 260],
  refused: [130, 390],
  ended: [420, 470],
  asking: [700, 390],
};

/** The transitions of an ordinary day, and what causes each. */
const USUAL: Readonly<Record<string, string>> = {
  "ready sending": "sent",
  "sending done": "success",
  "sending unknown": "lost",
  "sending refused": "refused",
  "unknown done": "found",
  "unknown sending": "absent",
  "unknown asking": "unclear",
  "refused ready": "retried",
  "asking done": "found",
  "asking sending": "resend",
  "asking ended": "end",
  "ready ended": "end",
  "done undone": "undo",
};

const HALF_WIDTH = 52;
const HALF_HEIGHT = 19;

/** Where a line towards a point leaves the box of a state. */
const border = (
  [x, y]: readonly [number, number],
  [toX, toY]: readonly [number, number],
): readonly [number, number] => {
  const [dx, dy] = [toX - x, toY - y];
  const scale = Math.min(HALF_WIDTH / Math.abs(dx || 1e-9), HALF_HEIGHT / Math.abs(dy || 1e-9));
  return [x + dx * scale, y + dy * scale];
};

const placeOf = (state: string): readonly [number, number] => {
  const place = PLACES[state];
  if (place === undefined) throw new Error(`The state ${state} has no place in the diagram.`);
  return place;
};

/** Draws a transition as a curve to the right of its direction, so that a pair of states shows both. */
const drawn = (from: string, to: string): string => {
  const [start, end] = [placeOf(from), placeOf(to)];
  const [dx, dy] = [end[0] - start[0], end[1] - start[1]];
  const length = Math.hypot(dx, dy);
  const bend = 22 + length / 30;
  const middle = [
    (start[0] + end[0]) / 2 - (dy / length) * bend,
    (start[1] + end[1]) / 2 + (dx / length) * bend,
  ] as const;
  const [x1, y1] = border(start, middle);
  const [x2, y2] = border(end, middle);
  const label = USUAL[`${from} ${to}`];
  const line = `<path class="${label === undefined ? "seldom" : "usual"}" d="M${[x1, y1].map(Math.round).join(" ")}Q${[...middle, x2, y2].map(Math.round).join(" ")}"/>`;
  if (label === undefined) return line;
  const [x, y] = [
    0.42 * x1 + 0.46 * middle[0] + 0.12 * x2,
    0.42 * y1 + 0.46 * middle[1] + 0.12 * y2,
  ];
  return `${line}<text x="${Math.round(x)}" y="${Math.round(y + 4)}">${label}</text>`;
};

/**
 * Returns the diagram of the states of a write as SVG.
 *
 * @param transitions pairs such as `ready sending`, as exploration found them
 * @throws Error if a usual transition was not found
 */
export const stateDiagram = (transitions: ReadonlySet<string>): string => {
  const missing = Object.keys(USUAL).filter((transition) => !transitions.has(transition));
  if (missing.length > 0) throw new Error(`advance never goes: ${missing.join(", ")}`);
  // The usual ones lie above the others.
  const sorted = [...transitions].toSorted(
    (one, other) => Number(one in USUAL) - Number(other in USUAL) || (one < other ? -1 : 1),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="50 20 830 490" width="830" height="490" role="img" aria-label="The states of a write and the transitions between them" font-family="ui-sans-serif, system-ui, sans-serif" font-size="13" text-anchor="middle">
<style>path{fill:none}.usual{stroke:#334155;stroke-width:1.8;marker-end:url(#usual)}.seldom{stroke:#cbd5e1;stroke-width:1.1;marker-end:url(#seldom)}text{fill:#334155;stroke:#fff;stroke-width:4;paint-order:stroke}rect+text{fill:#1e293b;font-weight:600;stroke:none}</style>
<defs>${["usual:#334155", "seldom:#cbd5e1"]
    .map((marker) => marker.split(":"))
    .map(
      ([id, colour]) =>
        `<marker id="${id}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 10 5 0 10z" style="fill:${colour}"/></marker>`,
    )
    .join("")}</defs>
<rect x="50" y="20" width="830" height="490" rx="8" fill="#fff"/>
${sorted.map((transition) => drawn(transition.split(" ")[0] ?? "", transition.split(" ")[1] ?? "")).join("\n")}
${Object.entries(PLACES)
  .map(
    ([state, [x, y]]) =>
      `<rect x="${x - HALF_WIDTH}" y="${y - HALF_HEIGHT}" width="${2 * HALF_WIDTH}" height="${2 * HALF_HEIGHT}" rx="7" fill="#e0e7ff" stroke="#6366f1"/><text x="${x}" y="${y + 5}">${state}</text>`,
  )
  .join("\n")}
</svg>
`;
};
