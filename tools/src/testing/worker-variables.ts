import type { ReadyProcess } from "./start-process.ts";

/** Where a payment service is, and who signs in there. */
interface ServiceAccess {
  readonly url: string;
  readonly clientId: string;
  readonly apiKey: string;
}

/** Read what a process of the simulator says of itself once it is ready. */
export const accessOf = ({ ready }: Pick<ReadyProcess, "ready">): ServiceAccess => ({
  url: String(ready["url"]),
  clientId: String(ready["clientId"]),
  apiKey: String(ready["apiKey"]),
});

/** Give the variables by which worker and starter find a payment service. */
export const serviceVariables = ({ apiKey, clientId, url }: ServiceAccess) => ({
  PAYMENTS_BASE_URL: url,
  PAYMENTS_CLIENT_ID: clientId,
  PAYMENTS_API_KEY: apiKey,
});

/** Give the variables by which worker and starter find a Temporal server and a payment service. */
export const workerVariables = (
  { address }: { readonly address: string },
  service: ServiceAccess,
) => ({
  TEMPORAL_ADDRESS: address,
  TEMPORAL_NAMESPACE: "default",
  PAYMENTS_TASK_QUEUE: "payments",
  ...serviceVariables(service),
});
