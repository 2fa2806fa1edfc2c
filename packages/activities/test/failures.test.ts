import { defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import { afterEach, describe, expect, it } from "vitest";
import { API_KEY, activitiesFor, errorIn, failureOf, run } from "./support/activities.ts";
import { beneficiary, card, IBAN, payout } from "./support/bodies.ts";
import {
  type RawService,
  refusal,
  type Said,
  startRawService,
  success,
  TOKEN,
} from "./support/raw-service.ts";

let service: RawService | undefined;
let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  await service?.stop();
});

/** Activities over a service that always says the same. */
const over = async (said: Said, signIn?: Said) => {
  service = await startRawService(() => said, signIn);
  const made = activitiesFor(service.url);
  ({ close } = made);
  return made.activities;
};

type Activities = Awaited<ReturnType<typeof over>>;

/** One operation of each class: how it may be repeated decides whether Temporal may retry it. */
const operations = {
  safe: (activities: Activities) => run(activities.retrievePayout, { payout_id: "payout-1" }),
  idempotent: (activities: Activities) => run(activities.cancelCard, { card_id: "card-1" }),
  keyed: (activities: Activities) => run(activities.createCard, card),
  none: (activities: Activities) => run(activities.createPayout, payout),
} as const;

const classes = Object.keys(operations) as ReadonlyArray<keyof typeof operations>;
const isDecidedByWorkflow = (idempotency: string) =>
  idempotency === "keyed" || idempotency === "none";

const unauthorized: Said = { status: 401, body: '{"code":401,"message":"Unauthorized"}' };

describe.each(classes)("an operation that is %s", (idempotency) => {
  const call = operations[idempotency];

  it("fails as Refused, for good", async () => {
    const failure = await failureOf(call(await over(refusal("Insufficient balance"))));
    expect(failure).toMatchObject({ type: "Refused", nonRetryable: true });
    expect(failure.message).toContain("Insufficient balance");
    expect(errorIn(failure)).toMatchObject({
      _tag: "Refused",
      carriedOut: "no",
      code: 400,
      reason: "Insufficient balance",
    });
  });

  it("fails as NotAuthenticated, and a retry waits half a minute", async () => {
    const failure = await failureOf(call(await over(unauthorized, unauthorized)));
    expect(failure).toMatchObject({
      type: "NotAuthenticated",
      nonRetryable: isDecidedByWorkflow(idempotency),
      nextRetryDelay: 30_000,
    });
    expect(errorIn(failure)).toMatchObject({ _tag: "NotAuthenticated", carriedOut: "no" });
    expect(service?.received).toEqual([]);
  });

  it("fails as RateLimited, and a retry waits as long as the service asks", async () => {
    const tooMany: Said = { status: 429, headers: { "retry-after": "90" }, body: "" };
    const failure = await failureOf(call(await over(tooMany)));
    expect(failure).toMatchObject({
      type: "RateLimited",
      nonRetryable: isDecidedByWorkflow(idempotency),
      nextRetryDelay: 90_000,
    });
    expect(errorIn(failure)).toMatchObject({ carriedOut: "no", retryAfter: 90_000 });
  });

  it("fails as Unavailable where nothing listens", async () => {
    const activities = await over(success());
    await service?.stop();
    const failure = await failureOf(call(activities));
    expect(failure).toMatchObject({
      type: "Unavailable",
      nonRetryable: isDecidedByWorkflow(idempotency),
      nextRetryDelay: undefined,
    });
    expect(errorIn(failure)).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
  });

  it("fails as OutcomeUnknown where a proxy answers for a service that is lost", async () => {
    const failure = await failureOf(call(await over({ status: 502, body: "<html>" })));
    expect(failure).toMatchObject({
      type: "OutcomeUnknown",
      nonRetryable: isDecidedByWorkflow(idempotency),
    });
    expect(errorIn(failure)).toMatchObject({
      _tag: "OutcomeUnknown",
      // A read that brought nothing has changed nothing.
      carriedOut: idempotency === "safe" ? "no" : "unknown",
    });
  });
});

it.each(["safe", "keyed", "none"] as const)(
  "an operation that is %s fails as UnexpectedAnswer with what came",
  async (idempotency) => {
    const failure = await failureOf(operations[idempotency](await over(success({ odd: true }))));
    expect(failure).toMatchObject({
      type: "UnexpectedAnswer",
      nonRetryable: isDecidedByWorkflow(idempotency),
    });
    const error = errorIn(failure);
    expect(error._tag === "UnexpectedAnswer" && error.answer).toContain('"odd":true');
  },
);

it("an input that breaks a rule fails as InvalidRequest, with every field named and nothing sent", async () => {
  const activities = await over(success());
  const failure = await failureOf(
    run(activities.createPayout, { ...payout, currency: "US$", amount: "-1" }),
  );
  expect(failure).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
  const error = errorIn(failure);
  expect(error._tag === "InvalidRequest" && error.faults.map(({ field }) => field)).toEqual([
    "currency",
    "amount",
  ]);
  const read = await failureOf(run(activities.retrievePayout, { payout_id: "a b" }));
  expect(read).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
  expect(service?.received).toEqual([]);
});

it("what crosses Temporal holds no key, no token and no account number, whatever the service repeats", async () => {
  const activities = await over(
    refusal(`No account ${IBAN} for Bearer ${TOKEN} of ${API_KEY}, card 4000 0012 3456 7899`),
  );
  const failures = [
    await failureOf(run(activities.createBeneficiary, beneficiary)),
    await failureOf(run(activities.createBeneficiary, { ...beneficiary, city: "" })),
    await failureOf(run(activities.createBeneficiary, beneficiary, { attempt: 2 })),
  ];
  for (const failure of failures) {
    const proto = defaultFailureConverter.errorToFailure(failure, defaultPayloadConverter);
    const details = proto.applicationFailureInfo?.details?.payloads ?? [];
    const text = JSON.stringify([
      proto.message,
      proto.stackTrace,
      details.map((payload) => Buffer.from(payload.data ?? []).toString()),
    ]);
    expect(details).toHaveLength(1);
    for (const secret of [IBAN, TOKEN, "3456 7899"]) expect(text).not.toContain(secret);
  }
});
