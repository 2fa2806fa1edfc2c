import { DefaultLogger, type LogLevel, type LogMetadata } from "@temporalio/worker";

/** Said of each worker that has activities alone, as those of some queues are meant to. */
const MEANT = "No workflows registered, not polling for workflow tasks";

/** The SDK's logger, without its warning of what is meant. */
export class WorkerLogger extends DefaultLogger {
  override log(level: LogLevel, message: string, meta?: LogMetadata): void {
    if (message !== MEANT) super.log(level, message, meta);
  }
}
