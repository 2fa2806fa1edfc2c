import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { NoResponse } from "./no-response.ts";
import type { Failed } from "./outcomes.ts";
import type { WireRequest, WireResponse } from "./send.ts";

/**
 * What carries requests to the service and whole responses back: undici, or a function of a test.
 *
 * It runs `permit` when nothing but the send is left to do, ends after `timeoutMs`, and closes the request when it is
 * interrupted. It fails with `NoResponse`, which says whether a byte may have left: that is why no `HttpClient` of Effect
 * is used, which cannot tell.
 */
export class Transport extends Context.Service<
  Transport,
  {
    readonly send: (request: WireRequest) => Effect.Effect<WireResponse, NoResponse | Failed>;
  }
>()("@durable-payments/client/Transport") {}
