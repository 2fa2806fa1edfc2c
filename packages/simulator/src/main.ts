#!/usr/bin/env node
import { messageOf, visibleLines } from "@durable-payments/api-core/values";
import { NodeRuntime, NodeServices } from "@effect/platform-node";
import { Cause, Console, Context, Effect, Exit, Layer, Logger, Option } from "effect";
import { CliConfig, CliOutput, Command, Flag, GlobalFlag } from "effect/cli";
import { HttpServer } from "effect/http";
import { FAULTS } from "./faults/fault.ts";
import { parseDuration, parseFault, parseTemperament } from "./parse-arguments.ts";
import { TEMPERAMENTS } from "./temperament/temperaments.ts";
import {
  API_KEY,
  CLIENT_ID,
  EXPIRY_FIELDS,
  EXPIRY_FORMS,
  REPEATED_KEY_ANSWERS,
  type SimulatorOptions,
} from "./settings.ts";
import { simulatorLayer } from "./simulator.ts";
import { urlOf } from "./start-simulator.ts";
import { basename } from "node:path";
import manifest from "../package.json" with { type: "json" };

/** The executable of the published package; in a checkout, npm run simulator. */
const NAME =
  basename(process.argv[1] ?? "") === "payments-simulator" ? "payments-simulator" : "simulator";

const DEFAULT_PORT = 4010;

// One line of help holds what stands beside the longest flag: descriptions have 50 characters.
const duration = (name: string, byDefault: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("TIME"),
    Flag.withDescription(`${description} (${byDefault})`),
    Flag.withDefault(byDefault),
    Flag.mapTryCatch(parseDuration, messageOf),
  );

const flags = {
  port: Flag.Int("port").pipe(
    Flag.withMetavar("PORT"),
    Flag.withDescription(`Listen on this port; 0 for a free one (${DEFAULT_PORT})`),
    Flag.withDefault(DEFAULT_PORT),
    Flag.filter(
      (port) => port >= 0 && port <= 65_535,
      (port) => `a port from 0 to 65535, not ${port}`,
    ),
  ),
  host: Flag.String("host").pipe(
    Flag.withMetavar("ADDRESS"),
    Flag.withDescription("Listen on this address (127.0.0.1)"),
    Flag.withDefault("127.0.0.1"),
  ),
  clientId: Flag.String("client-id").pipe(
    Flag.withMetavar("ID"),
    Flag.withDescription(`Take this client id (${CLIENT_ID})`),
    Flag.withDefault(CLIENT_ID),
  ),
  apiKey: Flag.String("api-key").pipe(
    Flag.withMetavar("KEY"),
    Flag.withDescription(`Take this API key (${API_KEY})`),
    Flag.withDefault(API_KEY),
  ),
  balances: Flag.KeyValuePair("balance").pipe(
    Flag.withMetavar("USD=1.00"),
    Flag.withDescription("Open with this balance; repeatable"),
    Flag.withDefault({ USD: "100000.00", EUR: "50000.00" }),
  ),
  settleAfter: duration("settle-after", "3 seconds", "A payout settles after"),
  verifyAfter: duration("verify-after", "2 seconds", "An identity check ends after"),
  tokenLifetime: duration("token-lifetime", "30 minutes", "A token is valid for"),
  expiryField: Flag.Literals("expiry-field", EXPIRY_FIELDS).pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("Its expiry's name"),
    Flag.withDefault("expired_at"),
  ),
  expiryForm: Flag.Literals("expiry-form", EXPIRY_FORMS).pipe(
    Flag.withMetavar("FORM"),
    Flag.withDescription("Its form"),
    Flag.withDefault("milliseconds"),
  ),
  echoPayoutKey: Flag.Literals("echo-payout-key", ["true", "false"]).pipe(
    Flag.withMetavar("YES"),
    Flag.withDescription("Show unique_request_id"),
    Flag.withDefault("true"),
    Flag.map((text) => text === "true"),
  ),
  repeatedKey: Flag.Literals("repeated-key", REPEATED_KEY_ANSWERS).pipe(
    Flag.withMetavar("HOW"),
    Flag.withDescription("Repeated card keys"),
    Flag.withDefault("first"),
  ),
  assumptions: Flag.String("assumptions").pipe(
    Flag.withMetavar("JSON"),
    Flag.withDescription("As in PAYMENTS_ASSUMPTIONS"),
    Flag.withDefault("{}"),
    Flag.mapTryCatch(
      (text): unknown => JSON.parse(text),
      () => "a JSON object",
    ),
  ),
  temperament: Flag.String("temperament").pipe(
    Flag.withMetavar("JSON"),
    Flag.withDescription("How the service shows its data, see below"),
    Flag.withDefault("{}"),
    Flag.mapTryCatch(parseTemperament, messageOf),
  ),
  faults: Flag.String("fault").pipe(
    Flag.withMetavar("FAULT"),
    Flag.withDescription("A fault to begin with; repeatable"),
    Flag.atLeast(0),
    Flag.mapTryCatch((texts) => texts.map(parseFault), messageOf),
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Decides where probable faults strike (1)"),
    Flag.withDefault(1),
  ),
  stateFile: Flag.File("state-file").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Keep the ledger there, so that it survives"),
    Flag.optional,
  ),
  log: Flag.Boolean("log").pipe(
    Flag.withDescription("Show method, path and status of each request"),
    Flag.withDefault(false),
  ),
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print one line of JSON when it listens"),
    Flag.withDefault(false),
  ),
};

const description = `The payment service on localhost, for tests and trials.

  TIME is a number of seconds, "20 days", "500 millis" or never.
  FAULT is KIND[,operation=NAME][,times=N][,probability=P], or for some kinds
  [,seconds=N] or [,milliseconds=N]. It strikes the next request to that
  operation, or to any but signIn; once, or without end with a probability:
${Object.entries(FAULTS)
  .map(([kind, effect]) => `    ${kind.padEnd(22)}${effect}`)
  .join("\n")}

  --temperament takes a JSON object such as {"listLagMs":3000} of these fields,
  which the README describes:
${Object.keys(TEMPERAMENTS)
  .map((name) => `    ${name}`)
  .join("\n")}`;

type Credentials = Required<Pick<SimulatorOptions, "apiKey" | "clientId">>;

const describe = (url: string, { apiKey, clientId }: Credentials) =>
  `The simulated payment service listens on ${url}

  export PAYMENTS_BASE_URL=${url} PAYMENTS_CLIENT_ID=${clientId} PAYMENTS_API_KEY=${apiKey}

Its ledger is at ${url}/_simulator/state. Stop it with Ctrl-C.`;

const serve = Effect.fnUntraced(function* (options: SimulatorOptions & Credentials, json: boolean) {
  const context = yield* Layer.build(simulatorLayer(options));
  const url = urlOf(Context.get(context, HttpServer.HttpServer));
  yield* Console.log(
    json
      ? JSON.stringify({ url, clientId: options.clientId, apiKey: options.apiKey })
      : describe(url, options),
  );
  return yield* Effect.never;
}, Effect.scoped);

/** One line on why the simulator could not start. */
const explain = (cause: unknown, { host, port }: { host: string; port: number }): string => {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "EADDRINUSE") {
    return `Port ${port} on ${host} is in use. Stop what listens there, or give --port another one (0 for any that is free).`;
  }
  return `Cannot listen on ${host}:${port}: ${messageOf(cause)}`;
};

const simulator = Command.make(NAME, flags, ({ json, stateFile, ...options }) =>
  serve(
    { ...options, ...(Option.isSome(stateFile) ? { stateFile: stateFile.value } : {}) },
    json,
  ).pipe(
    Effect.catchTags({
      InvalidSettings: ({ message }) => Effect.fail(message),
      UnusableStateFile: ({ message }) => Effect.fail(message),
      ServeError: ({ cause }) => Effect.fail(explain(cause, options)),
    }),
    Effect.tapError((message) => Console.error(visibleLines(message))),
  ),
).pipe(
  Command.withDescription(description),
  Command.withExamples([
    { command: `${NAME} --port 0 --json`, description: "On a free port, for a program" },
    {
      command: `${NAME} --fault dropped,operation=createPayout --settle-after 10`,
      description: "Pay out once without an answer; payouts settle after ten seconds",
    },
    { command: `${NAME} --state-file ledger.jsonl`, description: "Survive a restart" },
  ]),
);

/** What is wrong with the arguments goes to stderr alone: stdout may be read by a program. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.error(
          [...event.errors.map(({ message }) => message), `${NAME} --help shows the flags.`].join(
            "\n",
          ),
        )
      : CliOutput.defaultPresenter.present(event),
};

simulator.pipe(
  Command.run({ version: manifest.version }),
  Effect.provide([
    NodeServices.layer,
    Layer.succeed(Logger.LogToStderr, true),
    CliOutput.layerPresenter(presenter),
    CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] }),
  ]),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    // A signal to stop is how it ends; only what keeps it from starting is a failure.
    teardown: (exit, onExit) =>
      onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1),
  }),
);
