import { DISPATCH_WITHIN_MS, type PaymentsActivities } from "@durable-payments/activities";
import type { Payout } from "@durable-payments/api-core";
import { auditQuery, PAYMENT_IDS, progressQuery } from "@durable-payments/protocol";
import { timeSkipping } from "@durable-payments/tools/testing";
import { ApplicationFailure, defaultPayloadConverter } from "@temporalio/common";
import { describe, expect, it } from "vitest";
import { payout } from "../src/index.ts";
import { payTwoSuppliers } from "./examples/pay-two-suppliers.ts";
import { decide } from "./support/decide.ts";
import { useRig, useService } from "./support/hooks.ts";
import { payoutInput } from "./support/inputs.ts";
import { foundBy, reconciliationIn } from "./support/reconciliation.ts";
import { timeSkippingRig, withWorker } from "./support/rig.ts";

const skipped = timeSkipping.available ? "" : ` (skipped: ${timeSkipping.reason})`;

/** A failure of a send, as its activity reports it. */
const failing = (type: string, details: ReadonlyArray<unknown> = []) =>
  ApplicationFailure.create({
    type,
    message: `${type} on demand`,
    nonRetryable: true,
    details: [...details],
  });

/** A failure of a reconciliation, which Temporal tries again. */
const again = (type: string) => ApplicationFailure.create({ type, message: `${type} on demand` });

const nothing = async () => foundBy([], []);

describe.skipIf(!timeSkipping.available)(`a send without an answer${skipped}`, () => {
  const rig = useRig(timeSkippingRig);
  const service = useService({ settleAfter: 0 });

  type Changes = Partial<PaymentsActivities>;

  /** Starts a payout that is never answered, and shows it when it has waited for that long. */
  const stuck = async (
    changes: Changes,
    wait: string,
    use: (handle: Awaited<ReturnType<typeof begin>>) => Promise<void>,
  ) => {
    await withWorker(rig, { ...service.activities, ...changes }, async ({ start }) => {
      const handle = await begin(start);
      await rig.environment.sleep(wait);
      await use(handle);
      await handle.terminate();
    });
  };
  const begin = (start: Parameters<Parameters<typeof withWorker>[2]>[0]["start"]) =>
    start(payout, [payoutInput]);

  /** Times in milliseconds since 1970 at which it was sent. */
  const sendsIn = async (handle: Awaited<ReturnType<typeof begin>>) =>
    (await handle.query(auditQuery))
      .filter(({ step, what }) => step === "createPayout" && what === "sending")
      .map(({ at }) => Date.parse(at));

  /** What its timers are for, as they say it to tools and the Web UI. */
  const timersOf = async (handle: Awaited<ReturnType<typeof begin>>) =>
    ((await handle.fetchHistory()).events ?? []).flatMap(({ userMetadata }) =>
      userMetadata?.summary
        ? [String(defaultPayloadConverter.fromPayload(userMetadata.summary))]
        : [],
    );

  const createPayout = async (): Promise<never> => {
    throw failing("OutcomeUnknown");
  };

  it("is left to a person when it was absent three times", async () => {
    await stuck({ createPayout, findPayouts: nothing }, "3 days", async (handle) => {
      const { attention } = await handle.query(progressQuery);
      expect(attention?.reason).toContain("It was sent 4 times, and is not listed.");
      expect(attention?.actions).toEqual(["found", "resend", "abandon"]);
      expect(await sendsIn(handle)).toHaveLength(4);
    });
  });

  it.each([
    ["OutcomeUnknown", 60_000, 60_000 + DISPATCH_WITHIN_MS],
    // The lost worker may dispatch it yet.
    ["WorkerLost", 60_000 + DISPATCH_WITHIN_MS, 60_000 + 2 * DISPATCH_WITHIN_MS],
  ] as const)("(%s) is sent again after its allowance, not before", async (type, after, before) => {
    const changes: Changes = {
      createPayout: async () => {
        throw failing(type);
      },
      findPayouts: nothing,
    };
    await stuck(changes, "1 day", async (handle) => {
      const [first = 0, second = 0] = await sendsIn(handle);
      expect(second - first).toBeGreaterThanOrEqual(after);
      expect(second - first).toBeLessThan(before);
      expect(await timersOf(handle)).toContainEqual(
        expect.stringMatching(
          /^absent so far: it is sent again after 2\S+ \S+ UTC unless it appears/,
        ),
      );
    });
  });

  it("is left to a person where the list never adds up", async () => {
    const changes: Changes = {
      createPayout,
      findPayouts: async () => {
        throw again("ListDoesNotAddUp");
      },
    };
    await stuck(changes, "2 hours", async (handle) => {
      const { attention } = await handle.query(progressQuery);
      expect(attention?.reason).toContain("ListDoesNotAddUp on demand");
      expect(attention?.consequences.resend).toContain("pays twice if it was carried out");
      expect(await sendsIn(handle)).toHaveLength(1);
    });
  });

  it("is left to a person where the list cannot be read for hours", async () => {
    const changes: Changes = {
      createPayout,
      findPayouts: async () => {
        throw again("OutcomeUnknown");
      },
    };
    await stuck(changes, "5 hours", async (handle) => {
      const { attention } = await handle.query(progressQuery);
      expect(attention?.reason).toContain("The list could not be read");
      expect(await sendsIn(handle)).toHaveLength(1);
    });
  });

  it("is found where the list adds up after all", async () => {
    let polls = 0;
    const { findPayouts } = reconciliationIn(service.simulator);
    await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    const changes: Changes = {
      findPayouts: async (sent) => {
        polls += 1;
        if (polls < 5) throw again("ListDoesNotAddUp");
        return findPayouts(sent);
      },
    };
    await withWorker(rig, { ...service.activities, ...changes }, async ({ start }) => {
      expect(await (await begin(start)).result()).toMatchObject({ payout_status: "completed" });
    });
    expect(await service.requests("createPayout")).toBe(1);
  });

  it.each([
    ["is listed no more", async (seen: ReadonlyArray<Payout>) => seen],
    [
      "cannot be reconciled any more",
      async () => {
        throw again("ListDoesNotAddUp");
      },
    ],
  ])("is left to a person where what was seen %s", async (_, later) => {
    let polls = 0;
    const missing = (seen: ReadonlyArray<Payout>) =>
      foundBy(
        seen,
        seen.map(({ payout_id: id }) => ({ id, isOurs: false, isExact: true, isMissing: true })),
      );
    await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    const { findPayouts } = reconciliationIn(service.simulator, {}, { showsKeys: false });
    const changes: Changes = {
      findPayouts: async (sent) => {
        polls += 1;
        if (polls === 1) return findPayouts(sent);
        return missing(await later(sent.seen ?? []));
      },
    };
    await stuck(changes, "2 hours", async (handle) => {
      const [made] = (await service.simulator.state()).payouts;
      const { attention } = await handle.query(progressQuery);
      expect(attention?.candidates).toMatchObject([{ payout_id: made?.payout_id }]);
      expect(await sendsIn(handle)).toHaveLength(1);
      // Who decides was shown it: it is not asked about again.
      rig.activities = {
        ...service.activities,
        createPayout,
        findPayouts: async ({ seen = [] }) => missing(seen),
      };
      await decide(handle, { by: "Ada", resend: true });
      await rig.environment.sleep("1 hour");
      expect((await sendsIn(handle)).length).toBeGreaterThan(2);
    });
  });

  it("is what a person says that it is, of what the service shows with another amount", async () => {
    const withFee = <A extends { readonly amount?: string | undefined }>(payout: A) => ({
      ...payout,
      amount: String(Number(payout.amount) + 15),
    });
    const { findPayouts } = reconciliationIn(service.simulator, {}, { showsKeys: false });
    await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    const changes: Changes = {
      findPayouts: async (sent) => {
        const { items, matches } = await findPayouts(sent);
        return foundBy(
          items.map(withFee),
          matches.map((match) => ({ ...match, isExact: false, differsInOne: true })),
        );
      },
      retrievePayout: async (input) => withFee(await service.activities.retrievePayout(input)),
    };
    await stuck(changes, "2 hours", async (handle) => {
      const [made] = (await service.simulator.state()).payouts;
      const { payout_id = "" } = made ?? {};
      const { attention } = await handle.query(progressQuery);
      expect(attention?.reason).toContain("only one field is another");
      const { beneficiary_id, currency } = made ?? {};
      expect(attention?.candidates).toMatchObject([{ payout_id, beneficiary_id, currency }]);
      await decide(handle, { by: "Ada", found: { payout_id } });
      await rig.environment.sleep("1 hour");
      expect((await handle.query(progressQuery)).attention).toBeUndefined();
      expect(await service.requests("createPayout")).toBe(1);
    });
  });

  it("is not taken for one that another step of the same run has made", async () => {
    const { findPayouts } = reconciliationIn(service.simulator, {}, { showsKeys: false });
    const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
    const payment = { ...payoutInput.payout, beneficiary_id };
    let sends = 0;
    const changes: Changes = {
      findPayouts,
      createPayout: async (input, intent) => {
        sends += 1;
        // The second one never arrives.
        if (sends === 2) throw failing("OutcomeUnknown");
        return service.activities.createPayout(input, intent);
      },
    };
    await withWorker(rig, { ...service.activities, ...changes }, async ({ start }) => {
      const handle = await start(payTwoSuppliers, [payment, payment]);
      expect(await handle.result()).toEqual({ first: "completed", second: "completed" });
    });
    expect((await service.simulator.state()).payouts).toHaveLength(2);
  });

  it.each([
    [
      "before",
      -3_000,
      /, not by its key; created .* UTC by the service's clock, before this run first sent it \(.*UTC\)/,
    ],
    ["after", 0, /^createPayout: found in the list by beneficiary, .* reference, not by its key$/],
  ])(
    "says that it was found by its fields alone, and was created %s it was sent",
    async (_, by, note) => {
      const payout_id = "7";
      const { amount, currency } = payoutInput.payout;
      const changes: Changes = {
        createPayout,
        findPayouts: async ({ request: { beneficiary_id }, since }) => {
          const create_time = new Date(since + by).toISOString();
          const listed = { payout_id, beneficiary_id, amount, currency, create_time };
          return foundBy([listed], [{ id: payout_id, isOurs: false, isExact: true }]);
        },
        checkPayout: async () => ({ outcome: "completed", payout: { payout_id } }),
        awaitPayoutEnd: async () => ({ outcome: "completed", payout: { payout_id } }),
      };
      await withWorker(rig, { ...service.activities, ...changes }, async ({ start }) => {
        const handle = await begin(start);
        const text = expect.stringMatching(note) as unknown;
        expect(await handle.result()).toMatchObject({ payout_id, notes: [text] });
        const said = (await handle.query(auditQuery)).map(({ what }) => `createPayout: ${what}`);
        expect(said).toContainEqual(text);
      });
    },
  );

  it("says nothing of what was found by its key", async () => {
    await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    const { findPayouts } = reconciliationIn(service.simulator);
    await withWorker(rig, { ...service.activities, findPayouts }, async ({ start }) => {
      const handle = await begin(start);
      expect(await handle.result()).not.toHaveProperty("notes");
    });
  });

  it("is found where it has the id of the beneficiary that another step has made", async () => {
    let sends = 0;
    const payout_id = "7";
    const { amount, currency } = payoutInput.payout;
    const changes: Changes = {
      createBeneficiary: async () => ({ beneficiary_id: payout_id }),
      createPayout: async () => {
        sends += 1;
        throw failing("OutcomeUnknown");
      },
      findPayouts: async ({ request: { beneficiary_id } }) => {
        const listed = { payout_id, beneficiary_id, amount, currency, payout_status: "processing" };
        return foundBy([listed], [{ id: payout_id, isOurs: false, isExact: true }]);
      },
      checkPayout: async () => ({ outcome: "completed", payout: { payout_id } }),
      awaitPayoutEnd: async () => ({ outcome: "completed", payout: { payout_id } }),
    };
    await withWorker(rig, { ...service.activities, ...changes }, async ({ start }) => {
      const handle = await begin(start);
      expect(await handle.result()).toMatchObject({ payout_id });
      expect(sends).toBe(1);
      const { typedSearchAttributes } = await handle.describe();
      const ids = typedSearchAttributes.get(PAYMENT_IDS);
      const key = ids?.find((id) => /^[0-9a-f-]{36}$/.test(id));
      expect(new Set(ids)).toEqual(
        new Set([payout_id, "beneficiary:7", "payout:7", key, `key:${key}`]),
      );
    });
  });

  describe("that is certainly not carried out", () => {
    it.each([
      ["as it is", () => failing("Unavailable", [{ status: 422 }])],
      ["with a token that ping accepts", () => failing("NotAuthenticated")],
    ])("is left to a person when it was not accepted %s three times", async (_, turnedAway) => {
      const changes: Changes = {
        createPayout: async () => {
          throw turnedAway();
        },
      };
      await stuck(changes, "2 hours", async (handle) => {
        const { attention } = await handle.query(progressQuery);
        expect(attention?.actions).toEqual(["amend", "resend", "abandon"]);
        expect(await sendsIn(handle)).toHaveLength(3);
      });
    });

    it("is left to a person before the history grows too long, and goes on when a person decides so", async () => {
      const changes: Changes = {
        createPayout: async () => {
          throw failing("Unavailable");
        },
      };
      await withWorker(rig, { ...service.activities, ...changes }, async ({ start }) => {
        const handle = await begin(start);
        for (let days = 0; days < 40; days++) {
          await rig.environment.sleep("1 day");
          if ((await handle.query(progressQuery)).attention !== undefined) break;
        }
        const { attention } = await handle.query(progressQuery);
        expect(attention?.reason).toContain("the history grows");
        const { historyLength } = await handle.describe();
        expect(historyLength).toBeGreaterThan(1_000);
        expect(historyLength).toBeLessThan(51_200 / 10);
        rig.activities = { ...service.activities };
        await decide(handle, { by: "Ada", resend: true });
        expect(await handle.result()).toMatchObject({ payout_status: "completed" });
      });
    });
  });
});
