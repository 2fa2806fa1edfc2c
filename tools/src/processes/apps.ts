import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the checkout. */
export const checkout = fileURLToPath(new URL("../../../", import.meta.url));

/** The apps of the workspace that run from source. */
const MAIN_FILES = {
  simulator: "packages/simulator/src/main.ts",
  starter: "apps/starter/src/main.ts",
  worker: "apps/worker/src/main.ts",
} as const;

export type App = keyof typeof MAIN_FILES;

/** The arguments with which this Node runs an app from source. */
export const appArguments = (app: App, args: readonly string[] = []): string[] => [
  "--conditions=@durable-payments/source",
  join(checkout, MAIN_FILES[app]),
  ...args,
];
