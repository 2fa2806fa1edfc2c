import { fileURLToPath } from "node:url";

/** The folder of the checkout. */
export const checkout = fileURLToPath(new URL("../../../", import.meta.url));

/** The apps of the workspace that run from source. */
export type App = "simulator" | "starter" | "worker";

/** The arguments with which this Node runs an app from source. */
export const appArguments = (app: App, args: readonly string[] = []): string[] => [
  "--conditions=@durable-payments/source",
  fileURLToPath(new URL(`../../../apps/${app}/src/main.ts`, import.meta.url)),
  ...args,
];
