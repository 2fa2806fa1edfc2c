import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

/** Ends at once if the text fits on one screen, and keeps colours. */
const DEFAULT = "less -FRX";

/** A shell did not find the command: POSIX, Windows. */
const NOT_FOUND: ReadonlyArray<number | null> = [127, 9009];

/**
 * Shows a text by the pager that PAGER names if it is longer than the terminal. A pipe gets no pager.
 *
 * @returns false if the text was not shown, because it fits or there is no pager.
 */
export const page = (text: string): boolean => {
  const { columns, isTTY, rows } = process.stdout;
  const pager = process.env["PAGER"] ?? DEFAULT;
  if (!isTTY || pager === "" || pager === "cat") return false;
  const height = stripVTControlCharacters(text)
    .split("\n")
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
  if (height < rows) return false;
  const stdio = ["pipe", "inherit", "inherit"] as const;
  const { error, status } = spawnSync(pager, { shell: true, input: text, stdio: [...stdio] });
  // A reader who has seen enough leaves before the end.
  const isLeft = error !== undefined && "code" in error && error.code === "EPIPE";
  return (error === undefined || isLeft) && !NOT_FOUND.includes(status);
};
