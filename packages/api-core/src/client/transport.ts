import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { NoResponse } from "./no-response.ts";
import type { Failed } from "./outcomes.ts";
import type { WireRequest, WireResponse } from "./send.ts";

/**
 * The carrier of requests to the service and of whole responses back: undici, or a function of a test.
 *
 * It runs `permit` when nothing but the send is left to do, ends after `timeoutMs`, and closes the request when it is
 * interrupted. It fails with `NoResponse`, which says whether a byte may have left. Effect's `HttpClient` cannot tell
 * that, so it is not used.
 */
export class Transport extends Context.Service<
  Transport,
  {
    readonly send: (request: WireRequest) => Effect.Effect<WireResponse, NoResponse | Failed>;
  }
>()("@durable-payments/client/Transport") {}
