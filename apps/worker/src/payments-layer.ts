import {
  clientOptionsFromEnvironment,
  PaymentsClient,
  SignInLease,
} from "@durable-payments/api-core";
import { makeSignInLeases, type SignInBudget } from "@durable-payments/activities";
import type { Client } from "@temporalio/client";
import { Effect, Layer } from "effect";

/** The payment service, configured by the environment; sign-ins are of the budget of all workers. */
export const paymentsLayer = (temporal: Client, budget: SignInBudget) =>
  PaymentsClient.layerFromEnvironment.pipe(
    Layer.provide(
      Layer.effect(
        SignInLease,
        Effect.map(clientOptionsFromEnvironment, (options) =>
          makeSignInLeases(temporal, options, budget),
        ),
      ),
    ),
  );
