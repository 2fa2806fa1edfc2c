// Vitest takes a global setup's packages as they are built, and a clone has built none: so this imports none.
import { join } from "node:path";
import { type App, appArguments } from "../processes/apps.ts";

/** The variable that names the folder into which a run of tests has built starter and worker. */
export const builtAppsVariable = "DURABLE_PAYMENTS_BUILT_APPS";

/**
 * Give the arguments with which this Node runs an app: as this run of tests has built it from its sources,
 * which starts in half the CPU, and from the sources themselves where it has not.
 */
export const testedAppArguments = (app: App, args: readonly string[] = []): string[] => {
  const folder = process.env[builtAppsVariable];
  if (!folder || app === "simulator") return appArguments(app, args);
  return ["--conditions=@durable-payments/source", join(folder, app, "main.mjs"), ...args];
};
