import { operationNames } from "@durable-payments/client/effect";
import { REFUSAL_CODE } from "@durable-payments/client/contract";
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest";
import { Effect, Schema } from "effect";
import { type HttpServerRequest, HttpServerResponse } from "effect/http";
import { ServerResponse } from "node:http";

/** The faults on demand, and the effect of each on a request. */
export const FAULTS = {
  "html-502": "a proxy's HTML page with status 502; not executed",
  "html-502-after": "executed; the same page",
  "rate-limited": "429 with Retry-After (seconds=1); not executed",
  "refusal-in-200": "a refusal under HTTP 200; not executed",
  truncated: "executed; half the body, then the connection closes",
  stalled: "executed; half the body, then nothing",
  dropped: "executed; the connection closes without a response",
  "dropped-before": "not executed; the connection closes without a response",
  "token-expired": "every token is rejected from now on",
  slow: "executed; the response is delayed (milliseconds=1000)",
  "repeated-key-first": "a repeated key returns the original data",
  "repeated-key-empty": "a repeated key returns no data",
  "repeated-key-refusal": "a repeated key is refused",
} as const;

/** The names of the faults on demand. */
export type FaultKind = keyof typeof FAULTS;

/** The names in {@link FAULTS}. */
// `Object.keys` forgets them.
export const FAULT_KINDS = Object.keys(FAULTS) as ReadonlyArray<FaultKind>;

/** The description of a fault. */
export const FaultOrder = Schema.Struct({
  kind: Schema.Literals(FAULT_KINDS),
  /** The operation that it affects; by default any but signIn. */
  operation: Schema.optionalKey(Schema.Literals(["signIn", ...operationNames])),
  /** How often it occurs: once by default; a `repeated-key-*` always. */
  times: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  /** `Retry-After` of rate-limited. */
  seconds: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  /** Delay of slow. */
  milliseconds: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
});

/** The description of a fault. */
export type FaultOrder = typeof FaultOrder.Type;

/** A fault, and how often it occurred. */
export interface OrderedFault extends FaultOrder {
  readonly fired: number;
}

const isAboutRepeats = ({ kind }: FaultOrder) => kind.startsWith("repeated-key-");

/** The faults of a simulator. */
export class Faults {
  #ordered: ReadonlyArray<FaultOrder & { fired: number }> = [];

  add(order: FaultOrder): void {
    this.#ordered = [...this.#ordered, { ...order, fired: 0 }];
  }

  clear(): void {
    this.#ordered = [];
  }

  /** Every fault since the last `clear`, also used-up ones. */
  list(): ReadonlyArray<OrderedFault> {
    return this.#ordered.map((fault) => ({ ...fault }));
  }

  /**
   * The oldest fault that affects a request to `operation`, or the newest fault about repeated keys, if any; it counts as
   * occurred.
   */
  strike(operation: string, isRepeat = false): FaultOrder | undefined {
    const candidates = this.#ordered.filter((fault) => isAboutRepeats(fault) === isRepeat);
    const struck = (isRepeat ? candidates.toReversed() : candidates).find(
      ({ fired, operation: affected, times = isRepeat ? Infinity : 1 }) =>
        fired < times && (affected === undefined ? operation !== "signIn" : affected === operation),
    );
    if (struck !== undefined) struck.fired += 1;
    return struck;
  }
}

/** An envelope of a refusal. */
export const refusalAnswer = (
  message: string,
  options: { readonly status: number; readonly headers?: Readonly<Record<string, string>> },
) => HttpServerResponse.jsonUnsafe({ code: REFUSAL_CODE, message }, options);

/** The answer to one request too many. */
export const tooMany = (retryAfter: string) =>
  refusalAnswer("Too many requests", { status: 429, headers: { "retry-after": retryAfter } });

const badGateway = HttpServerResponse.text(
  "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n",
  { status: 502, contentType: "text/html" },
);

const nodeResponse = (request: HttpServerRequest.HttpServerRequest): ServerResponse => {
  const response = NodeHttpServerRequest.toServerResponse(request);
  if (response instanceof ServerResponse) return response;
  throw new Error("The simulator speaks HTTP/1.1 only");
};

/** Closes the connection at once. The server interrupts the request once it is closed. */
export const hangUp = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<never> =>
  Effect.andThen(
    Effect.sync(() => nodeResponse(request).socket?.destroySoon()),
    Effect.never,
  );

/** Sends the head and half the body of a response. */
const sendHalf = (
  request: HttpServerRequest.HttpServerRequest,
  answer: HttpServerResponse.HttpServerResponse,
): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const body = answer.body._tag === "Uint8Array" ? answer.body.body : new Uint8Array();
    const response = nodeResponse(request);
    response.writeHead(answer.status, { ...answer.headers, "content-length": body.length });
    response.write(body.subarray(0, body.length / 2), () => resume(Effect.void));
  });

/** Responds to a request that a fault affects; `handled` is the response without the fault. */
export const answerWithFault = <E, R>(
  fault: FaultOrder,
  request: HttpServerRequest.HttpServerRequest,
  handled: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  expireTokens: Effect.Effect<void>,
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
  switch (fault.kind) {
    case "html-502":
      return Effect.succeed(badGateway);
    case "html-502-after":
      return Effect.as(handled, badGateway);
    case "rate-limited":
      return Effect.succeed(tooMany(String(fault.seconds ?? 1)));
    case "refusal-in-200":
      return Effect.succeed(refusalAnswer("Refused on demand", { status: 200 }));
    case "truncated":
    case "stalled": {
      const after = fault.kind === "truncated" ? hangUp(request) : Effect.never;
      return Effect.flatMap(handled, (answer) => Effect.andThen(sendHalf(request, answer), after));
    }
    case "dropped":
      return Effect.andThen(handled, hangUp(request));
    case "dropped-before":
      return hangUp(request);
    case "token-expired":
      return Effect.andThen(expireTokens, handled);
    case "slow":
      return Effect.tap(handled, () => Effect.sleep(fault.milliseconds ?? 1000));
    default:
      return handled;
  }
};
