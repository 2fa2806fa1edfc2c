import { CannotStart } from "../cannot-start.ts";
import type { PaymentsSettings } from "../settings/payments-settings.ts";
import type { Environment } from "../settings/worker-process.ts";

/** Where a worker says how it is. */
export interface HealthAddress {
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = "127.0.0.1";
const HIGHEST_PORT = 65_535;

/**
 * Read where the worker listens; undefined where it does not.
 *
 * @throws CannotStart
 */
export const readHealthAddress = (
  { healthAddress }: PaymentsSettings,
  environment: Environment,
): HealthAddress | undefined => {
  const given = `${healthAddress ?? environment["PAYMENTS_HEALTH_ADDRESS"] ?? ""}`.trim();
  if (given === "") return undefined;
  const [, host = LOOPBACK, port] = /^(?:\[?([^[\]]+)\]?:)?(\d{1,5})$/.exec(given) ?? [];
  if (port !== undefined && Number(port) <= HIGHEST_PORT) return { host, port: Number(port) };
  const name = healthAddress === undefined ? "PAYMENTS_HEALTH_ADDRESS" : "healthAddress";
  throw new CannotStart(`${name} must be a port, or HOST:PORT such as 0.0.0.0:9464.`);
};
