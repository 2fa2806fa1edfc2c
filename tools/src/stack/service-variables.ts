/** The variables by which worker and starter find Temporal and the payment service. */
const isServiceVariable = (name: string): boolean => /^(TEMPORAL|PAYMENTS)_/.test(name);

/**
 * Takes the user's own addresses and credentials out of the environment of the processes of a local
 * stack: it must never reach another Temporal or another payment service.
 */
export const withoutServiceVariables = (
  env: NodeJS.ProcessEnv = process.env,
): Record<string, undefined> =>
  Object.fromEntries(
    Object.keys(env)
      .filter(isServiceVariable)
      .map((name) => [name, undefined]),
  );

/** What leads to somebody's payment service, or to what was sent to it. */
const ADDRESSES = /^PAYMENTS_(?:BASE_URL|CLIENT_ID|API_KEY|API_KEY_FILE|LEDGER)$/;

/**
 * Return the user's own settings of a worker, such as limits and notifications, without what leads to a
 * payment service.
 */
export const workerSettings = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => name.startsWith("PAYMENTS_") && !ADDRESSES.test(name)),
  );
