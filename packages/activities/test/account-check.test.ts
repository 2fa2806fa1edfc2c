import { accountHash } from "@durable-payments/protocol/account";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OfAccount } from "../src/index.ts";
import { activitiesOver, environment, failureOf } from "./support/activities.ts";
import { cardholder } from "./support/bodies.ts";

let simulator: Simulator;
let made: ReturnType<typeof activitiesOver>;
beforeEach(async () => {
  simulator = await startSimulator();
  made = activitiesOver(simulator);
});
afterEach(async () => {
  await made.close();
  await simulator.stop();
});

const call = (name: "createCardholder" | "removeCardholder" | "checkCardholder", of: OfAccount) => {
  const input = name === "createCardholder" ? cardholder : { card_holder_id: "c-1" };
  // Each activity gets its own input, and the account behind it.
  const activity = made.activities[name] as (...given: ReadonlyArray<unknown>) => Promise<unknown>;
  return environment().run(activity, input, of);
};

describe("what belongs to another account", () => {
  it.each([
    // A second send is the workflow's to decide.
    ["createCardholder", true],
    ["removeCardholder", false],
    ["checkCardholder", false],
  ] as const)("is refused: %s, for good %s", async (name, nonRetryable) => {
    const failure = await failureOf(call(name, { paymentAccount: "0123456789abcdef" }));
    expect(failure).toMatchObject({ type: "OtherAccount", nonRetryable });
    expect(failure.message).toContain("0123456789abcdef");
    expect(failure.message).not.toContain(simulator.clientId);
    expect((await simulator.state()).requests).toEqual({});
  });

  it("is identified by a hash of client id and address", async () => {
    const { clientId, url: baseUrl } = simulator;
    const paymentAccount = accountHash({ clientId, baseUrl });
    expect(await environment().run(made.activities.readAccount)).toBe(paymentAccount);
    expect(await environment().run(made.activities.checkRequests, [])).toBe(paymentAccount);
    expect(await call("createCardholder", { paymentAccount })).toHaveProperty("card_holder_id");
    expect(accountHash({ clientId, baseUrl: `${baseUrl}/` })).toBe(paymentAccount);
    expect(accountHash({ clientId: "another", baseUrl })).not.toBe(paymentAccount);
    expect(accountHash({ clientId, baseUrl: "https://payments.example" })).not.toBe(paymentAccount);
  });
});
