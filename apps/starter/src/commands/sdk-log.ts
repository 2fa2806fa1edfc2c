import { DefaultLogger, makeTelemetryFilterString, Runtime } from "@temporalio/worker";
import { badUsage } from "../exit-codes.ts";

const LOG_LEVELS = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"] as const;

/**
 * Have Temporal's SDK log to standard error, where `PAYMENTS_LOG_LEVEL` says so: what it logs of a replay is in the
 * answer already, in better words.
 *
 * @throws BadUsage where it is no level.
 */
export const logSdkWhereWanted = (): void => {
  const given = process.env["PAYMENTS_LOG_LEVEL"];
  if (given === undefined || given === "") return;
  const level = LOG_LEVELS.find((known) => known === given.toUpperCase());
  if (level === undefined) {
    throw badUsage(`PAYMENTS_LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}.`);
  }
  Runtime.install({
    logger: new DefaultLogger(level),
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core: level }), forward: {} },
    },
  });
};
