import { InvalidSettings } from "@durable-payments/client/effect";
import { iso4217Digits } from "@durable-payments/client/decimal";
import { Duration } from "effect";
import type { FaultOrder } from "./http/faults.ts";
import type { Backlog } from "./model/backlog.ts";
import type { Temperament } from "./http/temperament.ts";

/** How the simulated service behaves. Every setting has a default. */
export interface SimulatorOptions {
  /** Address to listen on; the control endpoint answers this machine only. Default 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on. Default 0, which picks a free port. */
  readonly port?: number;
  /** Client id that it accepts: one simulator is one account. Default `simulator`. */
  readonly clientId?: string;
  /** API key that it accepts. Default `simulator-key`. */
  readonly apiKey?: string;
  /** The initial balances, decimal text by currency. Default USD 100000.00, EUR 50000.00. */
  readonly balances?: Readonly<Record<string, string>>;
  /** How long a payout is processing; infinite: until it is given a status. Default 3 seconds. */
  readonly settleAfter?: Duration.Input;
  /** How long an identity check is pending; infinite as above. Default 2 seconds. */
  readonly verifyAfter?: Duration.Input;
  /** How long a token is valid. Default 30 minutes. */
  readonly tokenLifetime?: Duration.Input;
  /** Behaviour that the service's documentation leaves open. Default `{}`, the documented service. */
  readonly temperament?: Temperament;
  /** Faults that apply from the start. */
  readonly faults?: ReadonlyArray<FaultOrder>;
  /**
   * Payouts from before the simulator started: `{ payouts: 10_000_000, everyMs: 3_000, until: Date.now() }`. They are
   * listed and retrieved, and `state` leaves them out. Default none.
   */
  readonly backlog?: Backlog;
  /** File in which every confirmed change survives the process. Default none. */
  readonly stateFile?: string;
  /** Shows one line a request. Default false. */
  readonly log?: boolean;
  /**
   * The service's time in milliseconds since 1970, such as that of a test server that skips time: payouts settle,
   * checks end and tokens expire by it. Delays and outages follow the computer's clock. Default: the computer's.
   */
  readonly clock?: () => number | Promise<number>;
  /** Returns another body for a response of the service, as JSON, for tests that need more than faults and temperaments. */
  readonly rewrite?: (operation: string, body: unknown) => unknown;
}

/** The options with every default filled in. */
export type Settings = ReturnType<typeof makeSettings>;

const finite = (duration: Duration.Input): number | undefined => {
  const milliseconds = Duration.toMillis(duration);
  return Number.isFinite(milliseconds) ? milliseconds : undefined;
};

const NAMES: ReadonlySet<string> = new Set(
  Object.keys({
    apiKey: true,
    backlog: true,
    balances: true,
    clientId: true,
    clock: true,
    faults: true,
    host: true,
    log: true,
    port: true,
    rewrite: true,
    settleAfter: true,
    stateFile: true,
    temperament: true,
    tokenLifetime: true,
    verifyAfter: true,
  } satisfies Record<keyof SimulatorOptions, true>),
);

const isBalance = ([currency, amount]: readonly [string, unknown]): boolean => {
  if (typeof amount !== "string") return false;
  const [, fraction = ""] = amount.split(".");
  return (
    /^[A-Z]{3}$/.test(currency) &&
    /^\d{1,30}(\.\d+)?$/.test(amount) &&
    fraction.length <= iso4217Digits(currency)
  );
};

/**
 * Fills in the defaults; times in milliseconds, undefined for never.
 *
 * @throws InvalidSettings that names an unknown option, an invalid balance, or a token lifetime without an end.
 */
export const makeSettings = ({
  balances = { USD: "100000.00", EUR: "50000.00" },
  settleAfter = "3 seconds",
  tokenLifetime = "30 minutes",
  verifyAfter = "2 seconds",
  ...options
}: SimulatorOptions) => {
  const unknown = Object.keys(options).find((name) => !NAMES.has(name));
  if (unknown !== undefined)
    throw new InvalidSettings({
      message: `The simulator has no option ${unknown}: use one of ${[...NAMES].join(", ")}.`,
    });
  const invalid = Object.entries(balances).find((balance) => !isBalance(balance));
  if (invalid !== undefined) {
    throw new InvalidSettings({
      message: `The balance ${invalid.join("=")} must be a currency and an amount with its decimal places, such as USD=100000.00.`,
    });
  }
  const lifetime = finite(tokenLifetime);
  if (lifetime === undefined) {
    throw new InvalidSettings({ message: "The lifetime of a token must be finite." });
  }
  return {
    host: "127.0.0.1",
    port: 0,
    clientId: "simulator",
    apiKey: "simulator-key",
    temperament: {} as Temperament,
    faults: [] as ReadonlyArray<FaultOrder>,
    clock: Date.now as NonNullable<SimulatorOptions["clock"]>,
    ...options,
    backlog: options.backlog,
    balances,
    settleAfter: finite(settleAfter),
    tokenLifetime: lifetime,
    verifyAfter: finite(verifyAfter),
  };
};
