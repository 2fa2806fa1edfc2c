import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

/** A line of the sources. */
export interface Frame {
  /** Path from the current folder. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The line itself, where the file can be read. */
  readonly source?: string;
}

const FRAME = /(?:\(|^at )((?:file:\/\/)?\/[^():]+|[A-Za-z]:\\[^():]+):(\d+):(\d+)\)?$/;

const sourceOf = (file: string, line: number): string | undefined => {
  try {
    return readFileSync(file, "utf8").split("\n")[line - 1]?.trim();
  } catch {
    return undefined;
  }
};

/** Frames of libraries say nothing about the workflow. */
const isOfWorkflow = (file: string): boolean => !file.includes("node_modules");

/** The lines of the workflow's own sources in a stack, innermost first. */
export const framesOf = (stack: string): ReadonlyArray<Frame> =>
  stack.split("\n").flatMap((text) => {
    const [, path = "", line = "", column = ""] = FRAME.exec(text.trim()) ?? [];
    if (path === "" || !isOfWorkflow(path)) return [];
    const file = path.startsWith("file://") ? fileURLToPath(path) : path;
    const source = sourceOf(file, Number(line));
    return [
      {
        file: relative(process.cwd(), file),
        line: Number(line),
        column: Number(column),
        ...(source !== undefined && { source }),
      },
    ];
  });
