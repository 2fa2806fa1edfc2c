import { delimiter } from "node:path";
import { checkout } from "../processes.ts";

/** Variables of this checkout and its commands; npm's own settings stay, since they name the registry. */
const OURS =
  /^(?:npm_(?!config_)|npm_config_local_prefix$|TEMPORAL_|PAYMENTS_|VITEST|(?:NODE_ENV|TEST|NIGHTLY|NODE_OPTIONS|NODE_PATH|INIT_CWD|DURABLE_PAYMENTS_COMMAND)$)/i;

/**
 * Returns the environment of a user who has the packages and no checkout.
 *
 * @param binaries folder that comes first on the PATH.
 * @returns the variables that differ; undefined ones are removed.
 */
export const strangersEnvironment = (binaries?: string): NodeJS.ProcessEnv => {
  const { PATH = "" } = process.env;
  const folders = PATH.split(delimiter).filter((folder) => !folder.startsWith(checkout));
  return {
    ...Object.fromEntries(
      Object.keys(process.env)
        .filter((name) => OURS.test(name))
        .map((name) => [name, undefined]),
    ),
    PATH: [...(binaries === undefined ? [] : [binaries]), ...folders].join(delimiter),
  };
};
