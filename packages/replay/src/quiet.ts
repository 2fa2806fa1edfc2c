import { DefaultLogger, Runtime } from "@temporalio/worker";

/** Whether the process has given the SDK's Runtime options of its own, or uses it already. */
const hasRuntime = (): boolean =>
  Runtime._instance !== undefined || Object.keys(Runtime.defaultOptions).length > 0;

/**
 * Let the SDK log nothing about replays: what it says of one that fails is in the result. A process that has a
 * Runtime of its own goes by that. The quiet one ends with the replay that it is for.
 */
export const quietUnlessInstalled = (): void => {
  if (hasRuntime()) return;
  Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { filter: "OFF", forward: {} } },
  });
  // The SDK keeps them for the next Runtime of the process, which would be as quiet.
  Runtime.defaultOptions = {};
};
