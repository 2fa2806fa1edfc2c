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
