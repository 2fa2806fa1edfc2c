import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest";
import { Effect } from "effect";
import { type HttpServerRequest, HttpServerResponse } from "effect/http";
import { ServerResponse } from "node:http";
import { LedgerStore } from "../ledger/ledger-store.ts";
import { refusalAnswer } from "../service/answers.ts";
import { expireTokens } from "../service/sign-in.ts";
import type { FaultOrder } from "./fault.ts";

const badGateway = HttpServerResponse.text(
  "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n",
  { status: 502, contentType: "text/html" },
);

const nodeResponse = (request: HttpServerRequest.HttpServerRequest): ServerResponse => {
  const response = NodeHttpServerRequest.toServerResponse(request);
  if (response instanceof ServerResponse) return response;
  throw new Error("The simulator speaks HTTP/1.1 only");
};

/** Closes the connection as it stands. The server interrupts the request once it is closed. */
export const hangUp = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<never> =>
  Effect.andThen(
    Effect.sync(() => nodeResponse(request).socket?.destroySoon()),
    Effect.never,
  );

/** Sends the head and half the body of an answer. */
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

/** Answers a request that a fault strikes; `handled` is the request's proper handling. */
export const answerWithFault = <E, R>(
  fault: FaultOrder,
  request: HttpServerRequest.HttpServerRequest,
  handled: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | LedgerStore> => {
  switch (fault.kind) {
    case "html-502":
      return Effect.succeed(badGateway);
    case "html-502-after":
      return Effect.as(handled, badGateway);
    case "rate-limited":
      return Effect.succeed(
        refusalAnswer("Too many requests", {
          status: 429,
          headers: { "retry-after": String(fault.seconds ?? 1) },
        }),
      );
    case "refusal-in-200":
      return Effect.succeed(refusalAnswer("Refused on demand", { status: 200 }));
    case "truncated":
      return Effect.flatMap(handled, (answer) =>
        Effect.andThen(sendHalf(request, answer), hangUp(request)),
      );
    case "stalled":
      return Effect.flatMap(handled, (answer) =>
        Effect.andThen(sendHalf(request, answer), Effect.never),
      );
    case "dropped":
      return Effect.andThen(handled, hangUp(request));
    case "dropped-before":
      return hangUp(request);
    case "token-expired":
      return Effect.flatMap(LedgerStore, (store) =>
        Effect.andThen(Effect.orDie(store.transact(expireTokens)), handled),
      );
    case "slow":
      return Effect.tap(handled, () => Effect.sleep(fault.milliseconds ?? 1000));
    case "repeated-key-first":
    case "repeated-key-empty":
    case "repeated-key-refusal":
      return handled;
  }
};
