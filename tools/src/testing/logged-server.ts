import { shellQuoted } from "@durable-payments/protocol";
import { existsSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { serverLogVariable } from "./server-log-variable.ts";

/**
 * Wrap a server, so that its output goes into a file: the SDK starts it with the output of the test.
 *
 * @param path the executable of the server
 * @returns the path of an executable that runs it; `path` itself where no file is named, and on Windows
 */
export const loggedServer = (path: string): string => {
  const log = process.env[serverLogVariable];
  if (!log || process.platform === "win32") return path;
  const script = `${log}.${basename(path)}`;
  if (!existsSync(script)) {
    const text = `#!/bin/sh\nexec ${shellQuoted(path)} "$@" >>${shellQuoted(log)} 2>&1\n`;
    writeFileSync(script, text, { mode: 0o700 });
  }
  return script;
};
