import { PaymentsApi, Refusal } from "@durable-payments/api-core/contract";
import { HttpApi, HttpApiMiddleware } from "effect/http-api";

/** Stands around every operation: counts it, lets faults strike, writes refusals as the service does. */
export class AsTheService extends HttpApiMiddleware.Service<AsTheService>()(
  "@durable-payments/simulator/AsTheService",
  { error: Refusal },
) {}

/** The contract, as this server serves it. */
export const SimulatedApi = PaymentsApi.middleware(AsTheService).annotate(HttpApi.ParseOptions, {
  errors: "all",
});
