// It imports nothing: a Node that is too old to load the rest still runs it.

/** The oldest Node with what undici, the HTTP client, uses. `engines` of every package.json says the same. */
export const OLDEST_NODE = "22.19";

/**
 * Compare a version of Node with the oldest one that is supported.
 *
 * @param version as `process.versions.node` gives it, such as `"22.12.0"`
 */
export const isSupportedNode = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE.split(".").map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
};

/**
 * End this process with exit code 1, and one line on standard error, when its Node is too old.
 *
 * @param command the name of the command, which starts the line
 */
export const requireNode = (command: string, version: string = process.versions.node): void => {
  if (isSupportedNode(version)) return;
  process.stderr.write(
    `${command}: Node ${OLDEST_NODE} or newer is needed, this is ${version}. Install Node 24 from https://nodejs.org.\n`,
  );
  process.exit(1);
};
