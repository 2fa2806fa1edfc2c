import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { activitiesFor, errorIn, failureOf, run } from "./support/activities.ts";
import { beneficiary, cardholder, payout } from "./support/bodies.ts";
import {
  type RawService,
  refusal,
  type Said,
  startRawService,
  success,
} from "./support/raw-service.ts";

let service: RawService;
let said: Said;
let made: ReturnType<typeof activitiesFor>;
beforeEach(async () => {
  said = success();
  service = await startRawService(() => said);
  made = activitiesFor(service.url, { assumptions: { cardRefusedStatuses: ["declined"] } });
});
afterEach(async () => {
  await made.close();
  await service.stop();
});

const { beneficiary_id: _, unique_request_id: __, ...withoutIds } = payout;

describe("checkRequests", () => {
  it("lets a right input pass, with the fields that earlier steps will fill in, and sends nothing", async () => {
    await run(made.activities.checkRequests, [
      { operation: "createBeneficiary", input: beneficiary, at: "beneficiary" },
      { operation: "createPayout", input: withoutIds, later: ["beneficiary_id"], at: "payout" },
    ]);
    expect(service.received).toEqual([]);
  });

  it("names every fault of every input by where it stands", async () => {
    const failure = await failureOf(
      run(made.activities.checkRequests, [
        { operation: "createBeneficiary", input: { ...beneficiary, iban: "" }, at: "beneficiary" },
        {
          operation: "createPayout",
          input: { ...withoutIds, amount: "1.001", colour: "red" },
          later: ["beneficiary_id"],
          at: "payout",
        },
        { operation: "createCardholder", input: "Ada", at: "cardholder" },
      ]),
    );
    expect(failure).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
    expect(failure.message).toMatch(/payout\.amount .*It was not sent\.$/);
    const error = errorIn(failure);
    const fields = error._tag === "InvalidRequest" ? error.faults.map(({ field }) => field) : [];
    expect(fields).toEqual(
      expect.arrayContaining(["beneficiary.iban", "payout.amount", "payout.colour", "cardholder"]),
    );
    expect(service.received).toEqual([]);
  });

  it("does not excuse a field that no earlier step fills in", async () => {
    const failure = await failureOf(
      run(made.activities.checkRequests, [
        { operation: "createPayout", input: withoutIds, at: "payout" },
      ]),
    );
    expect(failure.message).toContain("payout.beneficiary_id is required");
    const { email: _, ...withoutEmail } = cardholder;
    expect(
      await failureOf(
        run(made.activities.checkRequests, [
          {
            operation: "createCardholder",
            input: withoutEmail,
            later: ["phone"],
            at: "cardholder",
          },
        ]),
      ),
    ).toMatchObject({ type: "InvalidRequest" });
  });
});

describe("confirmCard", () => {
  const issued = { card_id: "card-1", card_status: "pending", unique_request_id: "key-1" };
  const confirm = (card: typeof issued | { readonly card_id: string }, card_name?: string) =>
    run(made.activities.confirmCard, {
      card,
      unique_request_id: "key-1",
      ...(card_name !== undefined && { card_name }),
    });

  it("takes a card whose answer speaks for it, without a request", async () => {
    expect(await confirm(issued)).toEqual(issued);
    expect(await confirm({ card_id: "card-2" })).toEqual({ card_id: "card-2" });
    expect(service.received).toEqual([]);
  });

  it("names the card, which shows that it exists", async () => {
    expect(await confirm(issued, "Travel")).toEqual(issued);
    expect(service.received.map(({ body, path }) => `${path} ${body}`)).toEqual([
      '/cards/update {"card_id":"card-1","card_name":"Travel"}',
    ]);
  });

  it("fails for good where the status says that no card was issued", async () => {
    const failure = await failureOf(confirm({ ...issued, card_status: "DECLINED" }));
    expect(failure).toMatchObject({ type: "Refused", nonRetryable: true });
    expect(failure.message).toContain("its status is DECLINED");
  });

  it("fails for good where the answer is another request's", async () => {
    const failure = await failureOf(confirm({ ...issued, unique_request_id: "key-2" }));
    expect(failure).toMatchObject({ type: "Refused", nonRetryable: true });
  });

  it("fails for good where the name is refused, and tries again where no answer comes", async () => {
    said = refusal("Card not found");
    expect(await failureOf(confirm(issued, "Travel"))).toMatchObject({
      type: "Refused",
      nonRetryable: true,
    });
    said = { status: 502, body: "" };
    expect(await failureOf(confirm(issued, "Travel"))).toMatchObject({
      type: "OutcomeUnknown",
      nonRetryable: false,
    });
  });
});
