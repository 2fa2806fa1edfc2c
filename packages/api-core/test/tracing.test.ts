import { Cause, Effect, Exit, Option, Tracer } from "effect";
import { expect, it } from "vitest";
import { PaymentsClient } from "../src/effect.ts";
import { settingsFor } from "./support/client.ts";
import { requests } from "./support/requests.ts";
import { refusal, startServer } from "./support/server.ts";

const IBAN = "DE89370400440532013000";

it("has a span for each send of a call, named to the service, and none of its values", async () => {
  const spans: Array<Tracer.NativeSpan> = [];
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options);
      spans.push(span);
      return span;
    },
  });
  await using service = await startServer(() => refusal(`No ${IBAN}`));
  const exit = await Effect.runPromiseExit(
    PaymentsClient.use((client) => client.createPayout(requests.createPayout)).pipe(
      Effect.provide(PaymentsClient.layer(settingsFor(service.url))),
      Effect.withTracer(tracer),
    ),
  );
  expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({
    _tag: "RequestRefused",
  });
  const send = spans.find(({ name }) => name === "POST /api/v1/payouts/create");
  const call = spans.find(({ name }) => name === "createPayout");
  expect(send?.traceId).toBe(call?.traceId);
  expect(send && Option.getOrUndefined(send.parent)).toBe(call);
  expect(service.requests[0]?.headers["traceparent"]).toBe(
    `00-${send?.traceId}-${send?.spanId}-01`,
  );
  expect(Object.fromEntries(send?.attributes ?? [])).toStrictEqual({
    "http.request.method": "POST",
    "url.template": "/api/v1/payouts/create",
    "http.response.status_code": 200,
  });
});
