import { existsSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

/** The variable that names the file which receives what the Temporal servers of a test file print. */
export const serverLogVariable = "DURABLE_PAYMENTS_SERVER_LOG";

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

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
    const text = `#!/bin/sh\nexec ${quoted(path)} "$@" >>${quoted(log)} 2>&1\n`;
    writeFileSync(script, text, { mode: 0o700 });
  }
  return script;
};
