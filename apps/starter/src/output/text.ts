/** Widest line that is printed, however wide the terminal is. */
export const WIDTH = 80;

/** Breaks a text into lines of at most `WIDTH` columns, each with the indent; a longer word stays whole. */
export const wrap = (text: string, indent = "", width = WIDTH): string => {
  const lines: Array<string> = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(/\s+/).filter((part) => part !== "")) {
      if (line !== "" && indent.length + line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else {
        line = line === "" ? word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines.map((line) => `${indent}${line}`.trimEnd()).join("\n");
};

/** The beginning of a text that is too long. */
export const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, width - 1)}…`;

/** Names and values in two columns, wrapped. */
export const columns = (
  rows: ReadonlyArray<readonly [name: string, value: string]>,
  indent = "  ",
): string => {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows
    .map(([name, value]) => {
      const wrapped = wrap(value, " ".repeat(indent.length + width));
      return `${indent}${name.padEnd(width)}${wrapped.trimStart()}`;
    })
    .join("\n");
};

/** The fields of a value as rows for {@link columns}; those of objects within it under a longer name. */
export const fieldRows = (value: unknown, within = ""): Array<readonly [string, string]> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([name, field]) =>
        fieldRows(field, within === "" ? name : `${within}.${name}`),
      )
    : [[within, textOf(value)]];

/** A value as a person reads it. */
export const textOf = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
};

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** A length of time in at most 6 characters, but for ages: `5 min`, `3 d`. */
export const roughDuration = (milliseconds: number): string =>
  duration(milliseconds).split(" ").slice(0, 2).join(" ");

/** A length of time: `0.3 s`, `5 min`, `3 d 4 h`. */
export const duration = (milliseconds: number): string => {
  if (milliseconds < 10_000) return `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s`;
  if (milliseconds < 60_000) return `${Math.floor(milliseconds / 1000)} s`;
  let rest = milliseconds;
  const parts = UNITS.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count > 0 ? [`${count} ${unit}`] : [];
  });
  return parts.slice(0, 2).join(" ");
};

/** A point in time, in UTC: `2026-11-21 03:42:04 UTC`. */
export const time = (at: Date | string): string =>
  `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
