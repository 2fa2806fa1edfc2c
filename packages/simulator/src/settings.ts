import {
  type Assumptions,
  defaultAssumptions,
  InvalidSettings,
  makeAssumptions,
} from "@durable-payments/api-core";
import { Context, Duration, Result } from "effect";
import type { FaultOrder } from "./faults/fault.ts";
import { readAmount } from "./ledger/request-amounts.ts";
import type { Temperament } from "./temperament/temperament.ts";

/** How a repeated `unique_request_id` is answered: the first data, no data, or a refusal. */
export const REPEATED_KEY_ANSWERS = ["first", "empty", "refusal"] as const;

/** See {@link REPEATED_KEY_ANSWERS}. */
type RepeatedKeyAnswer = (typeof REPEATED_KEY_ANSWERS)[number];

/** Names of the field that carries a token's expiry; the service's document shows both. */
export const EXPIRY_FIELDS = ["expired_at", "expires_at"] as const;

/** How the expiry is written. */
export const EXPIRY_FORMS = ["milliseconds", "seconds", "iso"] as const;

/** How the simulated service behaves. Every setting has a default. */
export interface SimulatorOptions {
  /** Address to listen on; the control endpoint answers this machine only. Default 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on; 0, the default, for any that is free. */
  readonly port?: number;
  /** Client id that it takes; an account of another one is another simulator. Default `simulator`. */
  readonly clientId?: string;
  /** API key that it takes. Default `simulator-key`. */
  readonly apiKey?: string;
  /** What the account holds at first, decimal text by currency. Default USD 100000.00, EUR 50000.00. */
  readonly balances?: Readonly<Record<string, string>>;
  /** How long a payout is processing; infinite: until the control endpoint says. Default 3 seconds. */
  readonly settleAfter?: Duration.Input;
  /** How long an identity check is pending; infinite as above. Default 2 seconds. */
  readonly verifyAfter?: Duration.Input;
  /** How long a token is valid. Default 30 minutes. */
  readonly tokenLifetime?: Duration.Input;
  /** Default `expired_at`. */
  readonly expiryField?: (typeof EXPIRY_FIELDS)[number];
  /** Default `milliseconds`. */
  readonly expiryForm?: (typeof EXPIRY_FORMS)[number];
  /** Whether the `unique_request_id` of a payout is shown; false is the temperament's `payoutKeys: "dropped"`. Default true. */
  readonly echoPayoutKey?: boolean;
  /** Default `first`. */
  readonly repeatedKey?: RepeatedKeyAnswer;
  /** What the service's document leaves open, as the client's setting of the same name. */
  readonly assumptions?: unknown;
  /** How the service shows what it knows, from the start on. Default `{}`, as documented. */
  readonly temperament?: Temperament;
  /** Faults from the start on. */
  readonly faults?: ReadonlyArray<FaultOrder>;
  /** Seed of the faults that have a probability, and of the temperament. Default 1. */
  readonly seed?: number;
  /** File in which everything that was answered outlives the process. Default none. */
  readonly stateFile?: string;
  /** Shows one line a request. Default false. */
  readonly log?: boolean;
  /**
   * The time by which payouts settle, checks end and tokens expire, in milliseconds since 1970: that of a test server
   * that skips waiting, say. An answer that is to come late, and an outage, last as long by the computer's clock. Default: the
   * computer's clock.
   */
  readonly clock?: () => number | Promise<number>;
}

/** The options with every default filled in; times in milliseconds, undefined for never. */
export interface SettingsShape {
  readonly clientId: string;
  readonly apiKey: string;
  readonly balances: Readonly<Record<string, string>>;
  readonly settleAfter: number | undefined;
  readonly verifyAfter: number | undefined;
  readonly tokenLifetime: number;
  readonly expiryField: (typeof EXPIRY_FIELDS)[number];
  readonly expiryForm: (typeof EXPIRY_FORMS)[number];
  readonly repeatedKey: RepeatedKeyAnswer;
  readonly assumptions: Assumptions;
}

/** How the simulated service behaves. */
export class Settings extends Context.Service<Settings, SettingsShape>()(
  "@durable-payments/simulator/Settings",
) {}

/** The client id that the simulator takes where it is given no other. */
export const CLIENT_ID = "simulator";

/** The API key that it takes then. */
export const API_KEY = "simulator-key";

const finite = (duration: Duration.Input): number | undefined => {
  const milliseconds = Duration.toMillis(duration);
  return Number.isFinite(milliseconds) ? milliseconds : undefined;
};

/** Whether there is nothing to pay in when the balance is opened. */
export const isNothing = (amount: string): boolean => /^0+(\.0+)?$/.test(amount);

const isBalance = ([currency, amount]: readonly [string, string]): boolean =>
  /^[A-Z]{3}$/.test(currency) &&
  (isNothing(amount) || Result.isSuccess(readAmount(amount, currency)));

/** Fills in the defaults; wrong balances and assumptions fail with a message that names them. */
export const makeSettings = (
  options: SimulatorOptions,
): Result.Result<SettingsShape, InvalidSettings> =>
  Result.gen(function* () {
    const balances = options.balances ?? { USD: "100000.00", EUR: "50000.00" };
    const wrong = Object.entries(balances).find((balance) => !isBalance(balance));
    if (wrong !== undefined) {
      return yield* Result.fail(
        new InvalidSettings({
          message: `The balance ${wrong.join("=")} must be a currency and an amount in its digits, such as USD=100000.00.`,
        }),
      );
    }
    const tokenLifetime = Duration.toMillis(options.tokenLifetime ?? "30 minutes");
    if (!Number.isFinite(tokenLifetime)) {
      return yield* Result.fail(
        new InvalidSettings({ message: "The lifetime of a token must have an end." }),
      );
    }
    return {
      clientId: options.clientId ?? CLIENT_ID,
      apiKey: options.apiKey ?? API_KEY,
      balances,
      settleAfter: finite(options.settleAfter ?? "3 seconds"),
      verifyAfter: finite(options.verifyAfter ?? "2 seconds"),
      tokenLifetime,
      expiryField: options.expiryField ?? "expired_at",
      expiryForm: options.expiryForm ?? "milliseconds",
      repeatedKey: options.repeatedKey ?? "first",
      assumptions:
        options.assumptions === undefined
          ? defaultAssumptions
          : yield* makeAssumptions(options.assumptions),
    };
  });
