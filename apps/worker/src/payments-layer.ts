import {
  clientOptionsFromEnvironment,
  PaymentsClient,
  SignInPermit,
} from "@durable-payments/api-core";
import { makeSignInPermits, type SignInBudget } from "@durable-payments/activities";
import type { Client } from "@temporalio/client";
import { Effect, Layer } from "effect";

/** The payment service, configured by the environment; sign-ins are of the budget of all workers. */
export const paymentsLayer = (temporal: Client, budget: SignInBudget) =>
  PaymentsClient.layerFromEnvironment.pipe(
    Layer.provide(
      Layer.effect(
        SignInPermit,
        Effect.map(clientOptionsFromEnvironment, (options) =>
          makeSignInPermits(temporal, options, budget),
        ),
      ),
    ),
  );
