import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { InvalidSettings } from "../contract/assumptions.ts";
import { type ClientOptions, type ClientSettings, makeClientOptions } from "./config.ts";
import { isRecord } from "../values.ts";
import type { PaymentsClientShape } from "./client-shape.ts";

/**
 * The service, one method per operation.
 *
 * Each call checks its input first (`InvalidRequest`: nothing was sent), signs in on first need,
 * is repeated only as its class in the contract allows, and fails with a `PaymentsError`, which
 * says whether the operation took effect.
 */
export class PaymentsClient extends Context.Service<PaymentsClient, PaymentsClientShape>()(
  "@durable-payments/api-core/PaymentsClient",
) {
  /**
   * Makes a layer of a client; closing its scope closes the connections.
   *
   * @param settings `baseUrl`, `clientId` and `apiKey`, and any that differ from the defaults, as they are now; the
   *   proxy of the environment counts as it is when the client is made
   * @example
   * const provided = Effect.provide(program, PaymentsClient.layer({ baseUrl, clientId, apiKey }));
   */
  static readonly layer = (
    settings: ClientSettings,
  ): Layer.Layer<PaymentsClient, InvalidSettings> => {
    // A caller without types may give anything, which is reported with the faults.
    const given = isRecord(settings) ? { ...settings } : settings;
    return layerOf(Effect.suspend(() => Effect.fromResult(makeClientOptions(given))));
  };

  /**
   * A client configured by the environment as it is when the layer is built: `PAYMENTS_BASE_URL`,
   * `PAYMENTS_CLIENT_ID`, `PAYMENTS_API_KEY` and the others of `.env.example`.
   */
  static readonly layerFromEnvironment: Layer.Layer<PaymentsClient, InvalidSettings> =
    Layer.suspend(() => {
      // Before anything is awaited: in the meantime the program may set the variables of another account.
      const environment = { ...process.env };
      return layerOf(
        Effect.flatMap(
          Effect.promise(() => import("./environment.ts")),
          ({ readEnvironment }) => readEnvironment(environment),
        ),
      );
    });
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
