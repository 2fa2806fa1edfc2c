import type { OnboardCardholderInput } from "@durable-payments/protocol";
import {
  card,
  cardholder,
  fields,
  holding,
  ID,
  listWith,
  options,
  tooWide,
} from "@durable-payments/tools/test-data";
import { describe, expect, it, vi } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const { ended, file, simulator, start, starter, temporal } = await makeRepairRig();

/** Each test has a cardholder that no other test has, to be found in the ledger. */
const onboarding = (
  last_name: string,
  more: Partial<Pick<OnboardCardholderInput, "options">> & { readonly card?: object } = {},
): OnboardCardholderInput => ({
  cardholder: { ...cardholder, last_name },
  ...more,
  card: { ...card, ...more.card },
  options: { ...options, ...more.options },
});

const refuse = (operation: "createCardholder" | "createCard" | "updateCard") =>
  simulator.addFault({ kind: "refusal-in-200", operation });

/** Cardholders of a name, and the cards of these, that stand. */
const madeFor = async (last_name: string) => {
  const { cardholders, cards } = await simulator.state();
  const standing = cardholders.filter((made) => made.last_name === last_name && !made.removed);
  const ids = new Set(standing.map(({ card_holder_id }) => card_holder_id));
  return {
    cardholders: standing,
    cards: cards.filter(
      ({ card_holder_id, card_status }) => ids.has(card_holder_id) && card_status !== "cancelled",
    ),
  };
};

const resultOf = (id: string) => temporal.client.workflow.result(id);

const failed = async (id: string, input: OnboardCardholderInput): Promise<void> => {
  await start("onboardCardholder", id, input);
  expect(await ended(id)).toBe("FAILED");
};

const retry = (id: string, ...more: ReadonlyArray<string>) =>
  starter(["runs", "retry", id, "--by", "Bob", ...more, "--json"]);

describe("an onboarding that failed goes on with an amended input", () => {
  it("where the cardholder was refused: one cardholder, with the phone number as amended", async () => {
    await refuse("createCardholder");
    await failed("phone", onboarding("Phone"));
    const patch = await file("phone.json", { cardholder: { phone_number: "+4930999999" } });
    const dry = await retry("phone", "--amend", patch, "--dry-run");
    expect(dry.exitCode).toBe(0);
    expect(jsonOf(dry)).toEqual({
      workflowId: "phone",
      endedRunId: ID,
      runId: null,
      status: "planned",
      plan: {
        from: "createCardholder",
        eventId: expect.any(Number) as unknown,
        stays: [],
        again: [
          {
            name: "createCardholder",
            note: "was refused: is sent amended, unless the journal has it as sent since",
          },
        ],
        amended: ["cardholder.phone_number"],
        overruled: [],
      },
    });
    expect((await madeFor("Phone")).cardholders).toEqual([]);

    const retried = await retry("phone", "--amend", patch, "--reason", "wrong number");
    expect(retried).toMatchObject({ exitCode: 0, stderr: "" });
    expect(jsonOf(retried)).toMatchObject({ status: "retried", runId: ID });
    expect(retried.stdout).not.toContain("+4930999999");
    expect(await ended("phone")).toBe("COMPLETED");
    const made = await madeFor("Phone");
    expect(made.cardholders).toMatchObject([{ phone_number: "+4930999999" }]);
    expect(made.cards).toHaveLength(1);

    const audit = await starter(["audit", "phone", "--json"]);
    expect(jsonOf(audit)).toMatchObject({
      entries: listWith(
        fields({
          who: "Bob",
          step: "createCardholder",
          what: "retried",
          detail: { reason: "wrong number", fields: "cardholder.phone_number" },
        }),
      ),
    });
    expect(audit.stdout).not.toContain("+4930999999");
    const timeline = jsonOf(await starter(["runs", "show", "phone", "--json"]));
    expect(timeline).toMatchObject({ resetFrom: { reason: "wrong number (Bob)" } });
    // An instruction that was taken up is closed.
    const open = temporal.client.workflow.count(
      'WorkflowType = "retryInstruction" AND ExecutionStatus = "Running"',
    );
    expect((await open).count).toBe(0);
  });

  it("whatever characters its id has, and as the latest of several retries shows", async () => {
    const id = 'say "so" \\ now';
    await refuse("createCardholder");
    await failed(id, onboarding("Quoted"));
    const patches = await Promise.all(
      ["+4930111111", "+4930222222"].map((phone_number, index) =>
        file(`quoted-${index}.json`, { cardholder: { phone_number } }),
      ),
    );
    for (const [index, patch] of patches.entries()) {
      if (index === 0) await refuse("createCardholder");
      const { exitCode, stderr } = await retry(id, "--amend", patch);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(await ended(id)).toBe(index === 0 ? "FAILED" : "COMPLETED");
    }
    expect((await madeFor("Quoted")).cardholders).toMatchObject([{ phone_number: "+4930222222" }]);
  });

  it("where the identity check was refused, and has passed since", async () => {
    await start("onboardCardholder", "check", onboarding("Refused"));
    expect(await ended("check")).toBe("FAILED");
    const { cardholders } = await madeFor("Refused");
    await simulator.setVerification(cardholders[0]!.card_holder_id, "SUCCESS");
    const retried = jsonOf(await retry("check"));
    expect(retried["plan"]).toMatchObject({
      from: "awaitVerification",
      stays: ["createCardholder"],
      amended: [],
    });
    expect(await ended("check")).toBe("COMPLETED");
    // The pause until the retry is no part of the step that stays done.
    const [status, shown] = await Promise.all(
      [["status"], ["runs", "show"]].map(async (command) =>
        jsonOf(await starter([...command, "check", "--json"])),
      ),
    );
    const { at: resetAt } = shown!["resetFrom"] as { readonly at: string };
    for (const { steps } of [status, shown] as ReadonlyArray<Record<string, unknown>>) {
      const created = (
        steps as ReadonlyArray<{ readonly name: string; readonly until: string }>
      ).find(({ name }) => name === "createCardholder");
      expect(created!.until < resetAt).toBe(true);
    }
    const made = await madeFor("Refused");
    expect(made.cardholders).toEqual([fields({ card_holder_id: cardholders[0]!.card_holder_id })]);
    expect(made.cards).toHaveLength(1);
  });

  it("where the funds did not come: with a lower limit, which the result shows", async () => {
    await failed(
      "funds",
      onboarding("Funds", {
        card: { card_limit: "9000000.00" },
        options: { fundWithin: "1 second" },
      }),
    );
    const patch = await file("funds.json", { card: { card_limit: "50.00" } });
    expect(jsonOf(await retry("funds", "--amend", patch))["plan"]).toMatchObject({
      from: "awaitFunds",
    });
    expect(await ended("funds")).toBe("COMPLETED");
    expect(await resultOf("funds")).toMatchObject({ card_limit: "50.00" });
    expect((await madeFor("Funds")).cards).toMatchObject([{ card_limit: "50.00" }]);
  });

  it("where the card was refused: under another key", async () => {
    await refuse("createCard");
    await failed("card", onboarding("Card"));
    const patch = await file("card.json", { card: { product_code: "prepaid-usd-2" } });
    expect(jsonOf(await retry("card", "--amend", patch))["plan"]).toMatchObject({
      from: "issueCard",
      stays: ["createCardholder", "awaitVerification", "ensureBalance", "awaitFunds"],
    });
    expect(await ended("card")).toBe("COMPLETED");
    const { cardholders, cards } = await madeFor("Card");
    expect(cardholders).toHaveLength(1);
    expect(cards).toMatchObject([{ product_code: "prepaid-usd-2" }]);
  });

  it("where the card's name was refused: the card stays the one card", async () => {
    await refuse("updateCard");
    await failed("name", onboarding("Name", { card: { card_name: "Travel" } }));
    const before = (await simulator.state()).requests["createCard"];
    const late = await retry(
      "name",
      "--amend",
      await file("l.json", { card: { card_limit: "1.00" } }),
    );
    expect(late.exitCode).toBe(2);
    expect(jsonOf(late)).toMatchObject({
      error: {
        faults: [{ field: "card.card_limit", problem: holding("issueCard, which is done") }],
      },
    });
    await retry("name", "--amend", await file("name.json", { card: { card_name: "Trips" } }));
    expect(await ended("name")).toBe("COMPLETED");
    expect((await madeFor("Name")).cards).toMatchObject([{ card_name: "Trips" }]);
    expect((await simulator.state()).requests["createCard"]).toBe(before);
  });
});

describe("from an earlier step", () => {
  it("takes over what later steps have made, and makes none of it twice", async () => {
    await refuse("updateCard");
    await failed("earlier", onboarding("Earlier", { card: { card_name: "Travel" } }));
    const before = (await simulator.state()).requests;
    const retried = jsonOf(await retry("earlier", "--from", "createCardholder"));
    expect(retried["plan"]).toMatchObject({
      from: "createCardholder",
      again: listWith(
        { name: "createCardholder", note: "is done: what it made is taken over" },
        { name: "issueCard", note: "is done: what it made is taken over" },
      ),
    });
    expect(await ended("earlier")).toBe("COMPLETED");
    const made = await madeFor("Earlier");
    expect([made.cardholders.length, made.cards.length]).toEqual([1, 1]);
    expect(await resultOf("earlier")).toMatchObject({
      card_id: made.cards[0]!.card_id,
      card_limit: "100.00",
    });
    const { createCard, createCardholder } = (await simulator.state()).requests;
    expect({ createCard, createCardholder }).toEqual({
      createCard: before["createCard"],
      createCardholder: before["createCardholder"],
    });
  });

  it("is the only way on where the run has undone what it did", async () => {
    await refuse("updateCard");
    await failed(
      "undone",
      onboarding("Undone", { card: { card_name: "Travel" }, options: { onFailure: "compensate" } }),
    );
    const blind = await retry("undone");
    expect(blind.exitCode).toBe(2);
    expect(jsonOf(blind)).toMatchObject({
      error: { message: holding("starter runs retry undone --from createCardholder") },
    });
    const anew = await retry("undone", "--from", "createCardholder");
    expect(jsonOf(anew)).toMatchObject({
      plan: { again: listWith({ name: "issueCard", note: "was undone: is sent anew" }) },
    });
    expect(await ended("undone")).toBe("COMPLETED");
    const made = await madeFor("Undone");
    expect([made.cardholders.length, made.cards.length]).toEqual([1, 1]);
    expect(await resultOf("undone")).toMatchObject({ card_id: made.cards[0]!.card_id });
  });
});

describe("a run that was ended while it issued a card", () => {
  it("issues it once, whatever became of the first request", async () => {
    await simulator.addFault({ kind: "slow", operation: "createCard", milliseconds: 15_000 });
    const before = (await simulator.state()).requests["createCard"] ?? 0;
    await start("onboardCardholder", "ended", onboarding("Ended"));
    await vi.waitFor(
      async () =>
        expect((await simulator.state()).requests["createCard"] ?? 0).toBeGreaterThan(before),
      { timeout: 120_000, interval: 100 },
    );
    await temporal.client.workflow.getHandle("ended").terminate("by the test");
    const amended = await retry(
      "ended",
      "--amend",
      await file("ended.json", { card: { card_limit: "10.00" } }),
    );
    expect(amended.exitCode).toBe(2);
    expect(amended.stdout).toContain("nobody knows what became of it");
    expect(jsonOf(await retry("ended"))["plan"]).toMatchObject({
      again: [{ name: "issueCard", note: holding("repeated under the same key") }],
    });
    expect(await ended("ended")).toBe("COMPLETED");
    const made = await madeFor("Ended");
    expect([made.cardholders.length, made.cards.length]).toEqual([1, 1]);
  });
});

describe("shows why it does nothing, with exit code 2,", () => {
  it("for a run that is none, one that is under way, one that has completed", async () => {
    await start(
      "onboardCardholder",
      "open",
      onboarding("Open", { card: { card_limit: "9000000.00" } }),
    );
    const calls = [
      [await retry("nobody"), "no run with the id nobody"],
      [await retry("open"), "is under way"],
      [await retry("phone"), "has completed"],
      [await starter(["runs", "retry", "--json"]), "Give an ID, or --failed."],
    ] as const;
    for (const [call, message] of calls) {
      expect(call.exitCode).toBe(2);
      expect(jsonOf(call)).toMatchObject({
        error: { type: "BadInput", message: holding(message) },
      });
    }
    await temporal.client.workflow.getHandle("open").terminate("by the test");
  });

  it("for a run that could not undo what it did", async () => {
    await refuse("updateCard");
    await simulator.addFault({ kind: "refusal-in-200", operation: "removeCardholder" });
    await failed(
      "left over",
      onboarding("Left", { card: { card_name: "Travel" }, options: { onFailure: "compensate" } }),
    );
    const call = await retry("left over", "--from", "createCardholder");
    expect(call.exitCode).toBe(2);
    expect(jsonOf(call)).toMatchObject({
      error: { message: holding("was to undo createCardholder") },
    });
  });

  it("for a step that is none, and an amendment that is wrong, naming each fault", async () => {
    await refuse("createCardholder");
    await failed("wrong", onboarding("Wrong"));
    const step = await retry("wrong", "--from", "nothing");
    expect(jsonOf(step)).toMatchObject({ error: { message: holding("has no step nothing") } });
    const amend = async (patch: unknown) =>
      retry("wrong", "--amend", await file("wrong.json", patch));
    const email = await amend({ cardholder: { email: null, date_birth: "yesterday" } });
    expect(email.exitCode).toBe(2);
    expect(jsonOf(email)).toMatchObject({
      error: {
        faults: listWith(
          fields({ field: "cardholder.email" }),
          fields({ field: "cardholder.date_birth" }),
        ),
      },
    });
    expect(jsonOf(await amend({ options: { onFailure: "compensate" } }))).toMatchObject({
      error: { faults: [{ field: "options.onFailure", problem: "cannot be amended" }] },
    });
    expect(jsonOf(await amend({ cardholder: { last_name: "Wrong" } }))).toMatchObject({
      error: { message: holding("changes nothing") },
    });
    const { runId } = await temporal.client.workflow.getHandle("wrong").describe();
    const person = await starter(["runs", "retry", "wrong", "--dry-run"]);
    expect(person).toMatchObject({ exitCode: 0, stderr: "" });
    expect(person.stdout).toContain("Would retry wrong; nothing was done");
    expect(person.stdout).toContain(runId);
    expect(person.stdout).toContain(`add --run-id ${runId}`);
    const current = await starter(["runs", "retry", "wrong", "--dry-run", "--run-id", runId]);
    expect(current.exitCode).toBe(0);
    const later = "00000000-0000-4000-8000-000000000000";
    for (const command of [
      ["runs", "retry", "wrong", "--run-id", later],
      ["runs", "cancel", "wrong", "--run-id", later],
      ["runs", "terminate", "wrong", "--reason", "stuck", "--run-id", later],
      [
        "settle",
        "wrong",
        "--by",
        "Ada",
        "--reason",
        "not there",
        "--not-carried-out",
        "--run-id",
        later,
      ],
    ]) {
      const refused = await starter(command);
      expect(refused.exitCode).toBe(2);
      expect(refused.stdout + refused.stderr).toContain("The latest run of wrong is");
    }
    expect(tooWide(person.stdout)).toEqual([]);
  });
});
