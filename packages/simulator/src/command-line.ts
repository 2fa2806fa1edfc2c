import { faultsText } from "@durable-payments/client/effect";
import { faultsOf } from "@durable-payments/client/settings";
import { messageOf } from "@durable-payments/client/values";
import { Duration, Option, Schema } from "effect";
import { parseArgs } from "node:util";
import { FaultOrder, FAULTS } from "./http/faults.ts";
import { Temperament } from "./http/temperament.ts";
import type { SimulatorOptions } from "./settings.ts";

/** The options of `durable-payments simulator`. */
export const OPTIONS = {
  port: { type: "string", default: "4010" },
  host: { type: "string", default: "127.0.0.1" },
  "client-id": { type: "string" },
  "api-key": { type: "string" },
  balance: { type: "string", multiple: true },
  "settle-after": { type: "string", default: "3" },
  "verify-after": { type: "string", default: "2" },
  "token-lifetime": { type: "string", default: "30 minutes" },
  temperament: { type: "string", default: "{}" },
  fault: { type: "string", multiple: true },
  "state-file": { type: "string" },
  log: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

/** The text of `--help`. @param name the command */
export const help = (name: string): string => `Usage: ${name} [OPTIONS]

Simulates the payment service on this machine, for tests and experiments.

  --port PORT            listens on this port; 0: a free one (4010)
  --host ADDRESS         listens on this address (127.0.0.1)
  --client-id ID         accepts this client id (simulator)
  --api-key KEY          accepts this API key (simulator-key)
  --balance USD=1.00     opens with this balance; repeatable
  --settle-after TIME    a payout settles after this time (3)
  --verify-after TIME    an identity check ends after this time (2)
  --token-lifetime TIME  a token is valid for this time (30 minutes)
  --temperament JSON     changes its behaviour, for example {"listLagMs":3000}
  --fault FAULT          breaks a request; repeatable
  --state-file FILE      keeps the service's data there
  --log                  shows method, path and status of each request
  --json                 prints one line of JSON once it listens
  --help                 shows this text
  --version              shows the version

TIME is a number of seconds, "20 days", "500 millis" or never.
FAULT is KIND[,operation=NAME][,times=N]; some kinds also take [,seconds=N] or
[,milliseconds=N]. It applies to the next request to that operation. Without
an operation, it applies to the next request to any operation except signIn:
${Object.entries(FAULTS)
  .map(([kind, effect]) => `  ${kind.padEnd(22)}${effect}`)
  .join("\n")}

The README describes the fields of the temperament.

  ${name} --port 0 --json
  ${name} --fault dropped,operation=createPayout --settle-after 10
  ${name} --state-file ledger.jsonl
`;

const isNumber = (text: string) => /^\d+(\.\d+)?$/.test(text);

/** Reads a flag's value. @throws Error that names the flag. */
const read = <A>(flag: string, value: string, parse: (value: string) => A): A => {
  try {
    return parse(value);
  } catch (cause) {
    throw new Error(`--${flag} "${value}": must be ${messageOf(cause)}`, { cause });
  }
};

const duration = (text: string): Duration.Duration => {
  if (isNumber(text)) return Duration.seconds(Number(text));
  if (text === "never") return Duration.infinity;
  // `fromInput` accepts any text and says which ones are durations.
  const found = Duration.fromInput(text as Duration.Input);
  if (Option.isSome(found) && !Duration.isNegative(found.value)) return found.value;
  throw new Error('seconds, a number with its unit such as "20 days", or never');
};

const decode = <A>(schema: Schema.Codec<A, unknown>, value: unknown, example: string): A => {
  try {
    return Schema.decodeUnknownSync(schema, { errors: "all", onExcessProperty: "error" })(value);
  } catch (cause) {
    const why = Schema.isSchemaError(cause) ? faultsText(faultsOf(cause.issue)) : messageOf(cause);
    throw new Error(`${example}; ${why}`, { cause });
  }
};

/** `USD=1.00` as its two halves. */
const pair = (text: string): readonly [string, string] => {
  const [name = "", value = ""] = text.split("=", 2);
  return [name, value];
};

const fault = (text: string): FaultOrder => {
  const [kind, ...fields] = text.split(",");
  const settings = fields
    .map(pair)
    .map(([name, value]) => [name, isNumber(value) ? Number(value) : value]);
  const order: unknown = { ...Object.fromEntries(settings), kind };
  return decode(FaultOrder, order, "a fault such as dropped,operation=createPayout,times=3");
};

/**
 * Reads the command line.
 *
 * @returns the flags, and how to start a simulator by them; nothing is started.
 * @throws Error that names the first invalid flag.
 */
export const readCommandLine = (args: ReadonlyArray<string>) => {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const options: SimulatorOptions = {
    host: values.host,
    port: Number(values.port),
    ...(values["client-id"] !== undefined && { clientId: values["client-id"] }),
    ...(values["api-key"] !== undefined && { apiKey: values["api-key"] }),
    ...(values.balance && { balances: Object.fromEntries(values.balance.map(pair)) }),
    settleAfter: read("settle-after", values["settle-after"], duration),
    verifyAfter: read("verify-after", values["verify-after"], duration),
    tokenLifetime: read("token-lifetime", values["token-lifetime"], duration),
    temperament: read("temperament", values.temperament, (text) =>
      decode(Schema.fromJsonString(Temperament), text, 'a JSON object such as {"listLagMs":3000}'),
    ),
    faults: (values.fault ?? []).map((text) => read("fault", text, fault)),
    ...(values["state-file"] !== undefined && { stateFile: values["state-file"] }),
    log: values.log === true,
  };
  return { values, options };
};
