import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import {
  type ClientOptions,
  type ClientSettings,
  type InvalidSettings,
  makeClientOptions,
} from "./config.ts";
import type { PaymentsClientShape } from "./client-shape.ts";

/**
 * Check settings, and take those that are left out from the environment variables of
 * {@link clientOptionsFromEnvironment}.
 *
 * @param given settings that count before the environment
 * @returns the checked settings; fails with `InvalidSettings`, whose message names every fault
 */
export const clientOptionsWithEnvironment = (
  given: Partial<ClientSettings>,
): Effect.Effect<ClientOptions, InvalidSettings> =>
  Effect.flatMap(
    Effect.promise(() => import("./environment.ts")),
    ({ readEnvironment }) => readEnvironment(given),
  );

/**
 * Read the settings from the environment: `PAYMENTS_BASE_URL`, `PAYMENTS_CLIENT_ID` and
 * `PAYMENTS_API_KEY`, and those with defaults; `.env.example` lists them.
 *
 * @returns the checked settings; fails with `InvalidSettings`, whose message names every fault.
 */
export const clientOptionsFromEnvironment: Effect.Effect<ClientOptions, InvalidSettings> =
  clientOptionsWithEnvironment({});

/**
 * The service, one method per operation.
 *
 * Each call checks its input first (`InvalidRequest`: nothing was sent), signs in on first need,
 * is repeated only as its class in the contract allows, and fails with a `PaymentsError`, which
 * says whether the operation was carried out.
 */
export class PaymentsClient extends Context.Service<PaymentsClient, PaymentsClientShape>()(
  "@durable-payments/api-core/PaymentsClient",
) {
  /**
   * Make a layer of a client; closing its scope closes the connections.
   *
   * @param settings `baseUrl`, `clientId` and `apiKey`, and any that differ from the defaults
   * @example
   * const provided = Effect.provide(program, PaymentsClient.layer({ baseUrl, clientId, apiKey }));
   */
  static readonly layer = (
    settings: ClientSettings,
  ): Layer.Layer<PaymentsClient, InvalidSettings> =>
    layerOf(Effect.fromResult(makeClientOptions(settings)));

  /** A client configured by the environment, see `.env.example`. */
  static readonly layerFromEnvironment: Layer.Layer<PaymentsClient, InvalidSettings> =
    Layer.suspend(() => layerOf(clientOptionsFromEnvironment));
}

/** The contract and undici are loaded with the first client: they are two thirds of an import. */
const layerOf = (options: Effect.Effect<ClientOptions, InvalidSettings>) =>
  Layer.effect(
    PaymentsClient,
    Effect.flatMap(options, (checked) =>
      Effect.flatMap(
        Effect.promise(() => import("./client-implementation.ts")),
        ({ makeOperations }) => makeOperations(checked),
      ),
    ),
  );
