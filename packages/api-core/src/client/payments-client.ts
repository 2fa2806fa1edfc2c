import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type * as Scope from "effect/Scope";
import { isRecord } from "../values.ts";
import { Calls } from "./calls.ts";
import type { PaymentsClientShape } from "./client-shape.ts";
import type { ClientOptions, ClientSettings } from "./config.ts";
import type { InvalidSettings } from "./errors.ts";
import type { Transport } from "./send.ts";

/**
 * The service, with one method for each operation.
 *
 * Each call checks its input first (`InvalidRequest`: nothing was sent), and signs in on first need. It is repeated only
 * as its class in the contract allows. It fails with a `PaymentsError`, which says whether the operation took effect.
 */
export class PaymentsClient extends Context.Service<PaymentsClient, PaymentsClientShape>()(
  "@durable-payments/client/PaymentsClient",
) {
  /**
   * Makes a layer of a client; closing its scope closes the connections.
   *
   * @param settings `baseUrl`, `clientId` and `apiKey`, and any that differ from the defaults, as they are now. The
   *   proxy of the environment is read when the client is made.
   * @returns a layer, which fails with `InvalidSettings` if a setting is missing or invalid.
   * @example
   * const provided = Effect.provide(program, PaymentsClient.layer({ baseUrl, clientId, apiKey }));
   */
  static readonly layer = (
    settings: ClientSettings | ClientOptions,
  ): Layer.Layer<PaymentsClient, InvalidSettings> => clientOf(checked(settings), byUndici);

  /**
   * Makes a client by Effect's `ConfigProvider`, or by the environment as it is when the layer is built:
   * `PAYMENTS_BASE_URL`, `PAYMENTS_CLIENT_ID`, `PAYMENTS_API_KEY` and the other variables of docs/settings.md.
   */
  static readonly layerConfig: Layer.Layer<PaymentsClient, InvalidSettings> = Layer.suspend(() => {
    // Before anything is awaited: in the meantime the program may set the variables of another account.
    const environment = { ...process.env };
    const options = Effect.flatMap(
      Effect.promise(() => import("./environment.ts")),
      ({ readEnvironment }) => readEnvironment(environment),
    );
    return clientOf(options, byUndici);
  });

  /**
   * Makes a client for tests, which opens no socket: a function answers each request, sign-ins included. All time is that of
   * Effect's `Clock`.
   *
   * @param send answers a request, as {@link Transport} says
   * @param settings any that differ from those of a client that needs none
   * @example
   * const test = PaymentsClient.layerTest(({ operation }) =>
   *   Effect.succeed({ status: 200, headers: {}, body: bodies[operation.name] ?? "" }),
   * );
   */
  static readonly layerTest = (
    send: Transport,
    settings: Partial<ClientSettings> = {},
  ): Layer.Layer<PaymentsClient, InvalidSettings> => {
    const account = { baseUrl: "http://localhost", clientId: "test", apiKey: "test" };
    return clientOf(checked({ ...account, ...settings }), () => Effect.succeed(send));
  };
}

const isOptions = (settings: unknown): settings is ClientOptions =>
  isRecord(settings) && "credentials" in settings;

/** Checked before the layer is built: the settings as they are now. */
const checked = (
  settings: ClientSettings | ClientOptions,
): Effect.Effect<ClientOptions, InvalidSettings> => {
  // A caller without types may give anything, which is reported with the faults.
  if (isOptions(settings)) return Effect.succeed(settings);
  const given = isRecord(settings) ? { ...settings } : settings;
  return Effect.flatMap(
    Effect.promise(() => import("./config.ts")),
    ({ makeClientOptions }) => Effect.fromResult(makeClientOptions(given)),
  );
};

type MakeTransport = (options: ClientOptions) => Effect.Effect<Transport, never, Scope.Scope>;

const byUndici: MakeTransport = (options) =>
  Effect.flatMap(
    Effect.promise(() => import("./undici-transport.ts")),
    ({ makeUndici }) => makeUndici(options),
  );

/** The calls of a client. Contract, pipeline and undici are loaded with the first client: they are most of an import. */
const callsOf = (
  settings: Effect.Effect<ClientOptions, InvalidSettings>,
  makeTransport: MakeTransport,
): Layer.Layer<Calls, InvalidSettings> =>
  Layer.effect(
    Calls,
    Effect.gen(function* () {
      const options = yield* settings;
      const transport = yield* makeTransport(options);
      const { makeCalls } = yield* Effect.promise(() => import("./pipeline.ts"));
      return yield* makeCalls(options, transport);
    }),
  );

const clientOf = (...made: Parameters<typeof callsOf>) =>
  Layer.effect(
    PaymentsClient,
    Effect.flatMap(Calls, (calls) =>
      Effect.map(
        Effect.promise(() => import("./effect-client.ts")),
        ({ makeClient }) => makeClient(calls),
      ),
    ),
  ).pipe(Layer.provide(callsOf(...made)));

/** The calls of the promise client, which needs no module of streams before the first list. */
export const layerOfCalls = (
  settings: ClientSettings | ClientOptions,
): Layer.Layer<Calls, InvalidSettings> => callsOf(checked(settings), byUndici);
