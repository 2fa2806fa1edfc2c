import { IllegalStateError } from "@temporalio/common";
import { DefaultLogger, Runtime } from "@temporalio/worker";

/** Failures of activities are what these tests are about: only what goes wrong in the SDK is shown. */
export const quiet = new DefaultLogger("ERROR");

/**
 * Lets the SDK say no more than {@link quiet}. Call it before the first environment is created. The files
 * of a process share its runtime while anything uses it.
 */
export const quietRuntime = (): void => {
  try {
    Runtime.install({
      logger: quiet,
      // The core prints its warnings by itself where they are not forwarded.
      telemetryOptions: { logging: { forward: {} } },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
};
