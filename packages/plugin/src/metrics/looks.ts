import { type ClientOptions, clientSecondsUntilExpiry } from "@durable-payments/api-core";
import type { SecondsUntilExpiry } from "@durable-payments/api-core/credentials";
import { accountLabel, setGauge } from "./gauges.ts";
import type { Look } from "./scrape.ts";

/** Set when credentials expire, of those that say when. */
const setExpiry = (
  seconds: SecondsUntilExpiry,
  labels: { readonly peer: "service" | "temporal"; readonly account?: string },
): void => {
  for (const [credential, left] of Object.entries(seconds)) {
    setGauge("payments_credential_expiry_timestamp_seconds", Math.round(Date.now() / 1000 + left), {
      ...labels,
      credential,
    });
  }
};

/** Look up when the credentials of an account with the service expire. */
export const lookAtServiceCredentials =
  (options: ClientOptions, account: string | undefined): Look =>
  () =>
    setExpiry(clientSecondsUntilExpiry(options), { peer: "service", ...accountLabel(account) });

/** Of the connection to Temporal, which whoever runs the worker has opened. */
let temporalExpiry: (() => SecondsUntilExpiry) | undefined;

/** Say how to find out when the credentials of the connection to Temporal expire. */
export const showTemporalExpiry = (secondsUntilExpiry: () => SecondsUntilExpiry): void => {
  temporalExpiry = secondsUntilExpiry;
};

/** Look up when the credentials of the connection to Temporal expire, where that is known. */
export const lookAtTemporalCredentials: Look = () => {
  if (temporalExpiry !== undefined) setExpiry(temporalExpiry(), { peer: "temporal" });
};
