import { accountHash } from "@durable-payments/protocol/account";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { forAccounts, type OfAccount } from "../src/index.ts";
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

describe("what belongs to an account with a name", () => {
  it.each([
    ["createCardholder", true],
    ["removeCardholder", false],
  ] as const)(
    "is refused by a worker of one without: %s, for good %s",
    async (name, nonRetryable) => {
      const { clientId, url: baseUrl } = simulator;
      const paymentAccount = accountHash({ clientId, baseUrl });
      const failure = await failureOf(call(name, { paymentAccount, paymentAccountName: "eu" }));
      expect(failure).toMatchObject({ type: "UnknownAccount", nonRetryable });
      expect(failure.message).toContain("no account eu");
      expect((await simulator.state()).requests).toEqual({});
    },
  );

  it.each([["eu"], [""], [7], [null]])("is not taken for one without a name: %j", async (name) => {
    // A run can give anything.
    const of = { paymentAccountName: name } as unknown as OfAccount;
    expect(await failureOf(call("createCardholder", of))).toMatchObject({
      type: "UnknownAccount",
      nonRetryable: true,
    });
    expect((await simulator.state()).requests).toEqual({});
  });

  it("goes to that account of several, and to none where there is no such name", async () => {
    const other = await startSimulator({ clientId: "other", apiKey: "other-key" });
    const named = activitiesOver(other, {}, { account: "eu" });
    try {
      const activities = forAccounts(
        new Map([
          [undefined, made.activities],
          ["eu", named.activities],
        ]),
      );
      // What a run is told of its account comes after what the activity takes.
      const readAccount: (...of: ReadonlyArray<OfAccount>) => Promise<string> =
        activities.readAccount;
      const hash = (...of: ReadonlyArray<OfAccount>) => environment().run(readAccount, ...of);
      const hashOf = ({ clientId, url: baseUrl }: Simulator) => accountHash({ clientId, baseUrl });
      expect(await hash()).toBe(hashOf(simulator));
      expect(await hash({ paymentAccountName: "eu" })).toBe(hashOf(other));
      const failure = await failureOf(hash({ paymentAccountName: "us" }));
      expect(failure).toMatchObject({ type: "UnknownAccount", nonRetryable: true });
      expect(failure.message).toContain("it has eu");
      // The account that its run is pinned to holds, whatever a name stands for by now.
      const pinned = { paymentAccount: hashOf(simulator), paymentAccountName: "eu" };
      expect(await failureOf(hash(pinned))).toMatchObject({ type: "OtherAccount" });
    } finally {
      await named.close();
      await other.stop();
    }
  });

  it("is what a run without an account is refused by where each account has a name", async () => {
    const named = activitiesOver(simulator, {}, { account: "eu" });
    try {
      const activities = forAccounts(new Map([["eu", named.activities]]));
      const failure = await failureOf(environment().run(activities.readAccount));
      expect(failure).toMatchObject({ type: "UnknownAccount", nonRetryable: true });
      expect(failure.message).toContain("Give one of them as account in the input");
    } finally {
      await named.close();
    }
  });
});

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
