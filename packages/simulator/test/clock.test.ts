import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Layer } from "effect";
import { HttpServer } from "effect/http";
import { TestClock } from "effect/testing";
import { Control } from "../src/control/control.ts";
import type { SimulatorOptions } from "../src/index.ts";
import { API_KEY, CLIENT_ID } from "../src/settings.ts";
import { simulatorLayer } from "../src/simulator.ts";
import { startSimulator, urlOf } from "../src/start-simulator.ts";
import { send, signedIn } from "./support/raw-client.ts";
import { balance, createBeneficiary, createCardholder, createPayout } from "./support/steps.ts";

/** A simulator on the test's clock, and a client of it over HTTP. */
const start = (options: SimulatorOptions = {}) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(simulatorLayer(options));
    const target = {
      url: urlOf(Context.get(context, HttpServer.HttpServer)),
      clientId: CLIENT_ID,
      apiKey: API_KEY,
    };
    const client = yield* Effect.promise(() => signedIn(target));
    return { target, client, control: Context.get(context, Control) };
  });

describe("time", () => {
  it("is that of the option clock, and never goes back", async () => {
    let now = Date.parse("2026-11-22T12:00:00Z");
    const simulator = await startSimulator({ clock: () => now, settleAfter: "3 days" });
    const client = await signedIn(simulator);
    await createPayout(client, await createBeneficiary(client));
    now += 3 * 86_400_000;
    const { payouts } = await simulator.state();
    assert.strictEqual(payouts[0]?.payout_status, "completed");
    assert.strictEqual(payouts[0]?.complete_time, "2026-11-25T12:00:00.000Z");
    now = 0;
    assert.strictEqual((await simulator.state()).payouts[0]?.payout_status, "completed");
    await simulator.stop();
  });

  it.effect("settles a payout after three seconds, at that moment, whenever it is read", () =>
    Effect.gen(function* () {
      const { client } = yield* start();
      const { id } = yield* Effect.promise(async () => {
        const beneficiary = await createBeneficiary(client);
        return (await createPayout(client, beneficiary)).body.data;
      });
      const read = Effect.promise(
        async () => (await client.get(`/api/v1/payouts/${id}/retrieve`)).body.data,
      );
      yield* TestClock.adjust(2999);
      assert.strictEqual((yield* read).payout_status, "processing");
      assert.strictEqual((yield* read).complete_time, "0001-01-01T00:00:00Z");
      yield* TestClock.adjust("10 minutes");
      assert.strictEqual((yield* read).payout_status, "completed");
      assert.strictEqual((yield* read).complete_time, "1970-01-01T00:00:03.000Z");
    }).pipe(Effect.scoped),
  );

  it.effect("fails a payout whose reference says so, and returns its money", () =>
    Effect.gen(function* () {
      const { client, control } = yield* start({ settleAfter: "20 days" });
      yield* Effect.promise(async () =>
        createPayout(client, await createBeneficiary(client), { payout_reference: "FAIL please" }),
      );
      const holds = Effect.promise(async () => balance(client));
      yield* TestClock.adjust("29 minutes");
      assert.strictEqual(yield* holds, "99987.50");
      yield* TestClock.adjust("20 days");
      const { balances, payouts, transactions } = yield* control.ledger;
      assert.strictEqual(payouts[0]?.payout_status, "failed");
      assert.strictEqual(payouts[0]?.update_time, "1970-01-21T00:00:00.000Z");
      assert.strictEqual(balances[0]?.available_balance, "100000.00");
      assert.strictEqual(transactions.at(-1)?.transaction_status, "failed");
    }).pipe(Effect.scoped),
  );

  it.effect("ends identity checks after two seconds, by the last name", () =>
    Effect.gen(function* () {
      const { client } = yield* start();
      yield* Effect.promise(async () => {
        for (const last_name of ["Hopper", "Refused", "Incomplete"]) {
          await createCardholder(client, { last_name });
        }
      });
      const statuses = Effect.promise(async () =>
        (await client.get("/api/v1/cardholders?page_num=1&page_size=50")).body.data.item_list.map(
          (item) => item.card_holder_status,
        ),
      );
      yield* TestClock.adjust(1999);
      assert.deepStrictEqual(yield* statuses, ["PENDING", "PENDING", "PENDING"]);
      yield* TestClock.adjust(1);
      assert.deepStrictEqual(yield* statuses, ["INCOMPLETE", "FAILED", "SUCCESS"]);
    }).pipe(Effect.scoped),
  );

  it.effect("leaves alone what the control endpoint decided, and what was removed", () =>
    Effect.gen(function* () {
      const { client, control } = yield* start();
      const [first, second] = yield* Effect.promise(async () => [
        await createCardholder(client),
        await createCardholder(client),
      ]);
      yield* control.setVerification(first!, "FAILED");
      yield* Effect.promise(() => client.post(`/api/v1/cardholders/${second}/remove`, {}));
      yield* TestClock.adjust("1 minute");
      const { cardholders } = yield* control.ledger;
      assert.deepStrictEqual(
        cardholders.map(({ card_holder_status }) => card_holder_status),
        ["FAILED", "PENDING"],
      );
    }).pipe(Effect.scoped),
  );

  it.effect("ends tokens, and lets sign-ins come again after a minute", () =>
    Effect.gen(function* () {
      const { client, target } = yield* start();
      const ping = Effect.promise(async () => (await client.get("/api/v1/ping")).status);
      const signIn = Effect.promise(async () => {
        const headers = { "x-client-id": CLIENT_ID, "x-api-key": API_KEY };
        return (await send(target, "POST", "/api/v1/auth/signin", { headers })).status;
      });
      yield* TestClock.adjust("30 seconds");
      for (let n = 1; n < 50; n++) assert.strictEqual(yield* signIn, 200);
      assert.strictEqual(yield* signIn, 429);
      yield* TestClock.adjust(29_999);
      assert.strictEqual(yield* signIn, 429);
      // The first sign-in is a minute old now; the 49 others are not.
      yield* TestClock.adjust(1);
      assert.strictEqual(yield* signIn, 200);
      assert.strictEqual(yield* signIn, 429);
      yield* TestClock.adjust(29 * 60_000 - 1);
      assert.strictEqual(yield* ping, 200);
      yield* TestClock.adjust(1);
      assert.strictEqual(yield* ping, 401);
    }).pipe(Effect.scoped),
  );
});
