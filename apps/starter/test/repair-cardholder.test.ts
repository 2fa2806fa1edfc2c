import type { AuditEntry, OnboardCardholderInput } from "@durable-payments/protocol";
import {
  card,
  cardholder,
  fields,
  holding,
  ID,
  listWith,
  options,
} from "@durable-payments/tools/test-data";
import { describe, expect, it } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const rig = await makeRepairRig({ PAYMENTS_REQUEST_TIMEOUT_MS: "3000" });

/** Last names by which the simulator's identity check fails. */
const onboarding = (
  first_name: string,
  last_name: "Refused" | "Incomplete",
): OnboardCardholderInput => ({
  cardholder: { ...cardholder, first_name, last_name },
  card: { ...card, card_limit: "10.00" },
  options,
});

const failed = async (id: string, input: OnboardCardholderInput): Promise<void> => {
  await rig.start("onboardCardholder", id, input);
  expect(await rig.ended(id)).toBe("FAILED");
};

const retry = (id: string, ...more: ReadonlyArray<string>) =>
  rig.starter(["runs", "retry", id, "--by", "Bob", ...more, "--json"]);

const amend = async (id: string, patch: object, ...more: ReadonlyArray<string>) =>
  retry(id, "--amend", await rig.file("patch.json", patch), ...more);

const named = async (first_name: string) =>
  (await rig.simulator.state()).cardholders.filter((made) => made.first_name === first_name);

const standing = async (first_name: string) =>
  (await named(first_name)).filter(({ removed }) => !removed);

describe("an onboarding whose identity check has failed", () => {
  it("says what can be done, and goes on when it was corrected at the service", async () => {
    await failed("corrected", onboarding("Corrected", "Incomplete"));
    const shown = await rig.starter(["runs", "show", "corrected"]);
    expect(shown.stdout.replaceAll(/\s+/g, " ")).toContain(
      "Correct it at the service and retry (starter runs retry), retry with other data of the cardholder (--amend), or onboard anew under another id.",
    );
    expect(shown.stdout).toContain("--from createCardholder --amend FILE");
    const [made] = await named("Corrected");
    await rig.simulator.setVerification(made!.card_holder_id, "SUCCESS");
    expect((await retry("corrected")).exitCode).toBe(0);
    expect(await rig.ended("corrected")).toBe("COMPLETED");
    expect(await named("Corrected")).toHaveLength(1);
  });

  it("asks what becomes of the cardholder, where another is to take its place", async () => {
    await failed("asked", onboarding("Asked", "Refused"));
    const [made] = await named("Asked");
    const patch = { cardholder: { last_name: "Other" } };
    for (const from of [[], ["--from", "createCardholder"]]) {
      const refused = await amend("asked", patch, ...from);
      expect(refused.exitCode).toBe(2);
      expect(jsonOf(refused)).toMatchObject({
        error: {
          faults: [
            {
              field: "cardholder.last_name",
              problem: holding(`${made!.card_holder_id}: to have another made in its place`),
            },
          ],
        },
      });
    }
    for (const [wrong, message] of [
      [{ ...patch, replaced: "yes" }, "The amendment is wrong"],
      [{ replaced: "remove" }, "changes nothing of it"],
      [{ card: { card_limit: "11.00" }, replaced: "remove" }, "changes nothing of it"],
    ] as const) {
      const refused = await amend("asked", wrong);
      expect(refused.exitCode).toBe(2);
      expect(jsonOf(refused)).toMatchObject({ error: { message: holding(message) } });
    }
    const later = await amend(
      "asked",
      { ...patch, replaced: "keep" },
      "--from",
      "awaitVerification",
    );
    expect(later.exitCode).toBe(2);
    expect(await named("Asked")).toHaveLength(1);
  });

  it.each(["remove", "keep"] as const)(
    "goes on with another cardholder in its place: %s the one before",
    async (replaced) => {
      await failed(replaced, onboarding(replaced, "Refused"));
      const [before] = await named(replaced);
      const patch = { cardholder: { last_name: "Other" }, replaced };
      const dry = await amend(replaced, patch, "--dry-run");
      expect(jsonOf(dry)).toMatchObject({
        plan: {
          from: "createCardholder",
          amended: ["cardholder.last_name"],
          again: listWith(
            fields({ name: "createCardholder", note: holding(`made ${before!.card_holder_id}`) }),
          ),
        },
      });
      const retried = await amend(replaced, patch);
      expect(retried).toMatchObject({ exitCode: 0, stderr: "" });
      expect(jsonOf(retried)).toMatchObject({ status: "retried", runId: ID });
      expect(await rig.ended(replaced)).toBe("COMPLETED");
      const made = (await named(replaced)).find(({ last_name }) => last_name === "Other");
      expect(await named(replaced)).toHaveLength(2);
      expect(await standing(replaced)).toHaveLength(replaced === "remove" ? 1 : 2);
      const { cards } = await rig.simulator.state();
      expect(cards.filter((issued) => issued.card_holder_id === made?.card_holder_id)).toHaveLength(
        1,
      );
      const result: unknown = await rig.temporal.client.workflow.result(replaced);
      expect(result).toMatchObject({ card_holder_id: made?.card_holder_id });
      const [audit, shown] = await Promise.all([
        rig.starter(["audit", replaced, "--json"]),
        rig.starter(["runs", "show", replaced]),
      ]);
      const { card_holder_id } = before!;
      const undone = (jsonOf(audit)["entries"] as ReadonlyArray<AuditEntry>).filter(
        ({ what }) => what === "undone (removeCardholder)",
      );
      expect(undone).toMatchObject(replaced === "remove" ? [{ detail: { card_holder_id } }] : []);
      const removal = new RegExp(`Remove the cardholder\\s+${card_holder_id}:\\s+done`);
      expect(removal.test(shown.stdout)).toBe(replaced === "remove");
    },
  );

  it("goes on with what a person says next, where the one before cannot be removed", async () => {
    await failed("stays", onboarding("Stays", "Refused"));
    const refuse = (operation: "removeCardholder" | "createCardholder") =>
      rig.simulator.addFault({ kind: "refusal-in-200", operation });
    await refuse("removeCardholder");
    const patch = { cardholder: { last_name: "Other" } };
    expect((await amend("stays", { ...patch, replaced: "remove" })).exitCode).toBe(0);
    expect(await rig.ended("stays")).toBe("FAILED");
    expect(await standing("Stays")).toHaveLength(1);
    // Another word for the same cardholder, and then a refusal of the other: it is sent, and made once.
    await refuse("createCardholder");
    expect((await amend("stays", { replaced: "keep" })).exitCode).toBe(0);
    expect(await rig.ended("stays")).toBe("FAILED");
    expect((await retry("stays")).exitCode).toBe(0);
    expect(await rig.ended("stays")).toBe("COMPLETED");
    expect((await standing("Stays")).map(({ last_name }) => last_name).toSorted()).toEqual([
      "Other",
      "Refused",
    ]);
    const twice = await amend("stays", { ...patch, replaced: "keep" });
    expect(twice.exitCode).toBe(2);
  });

  it("finds the other cardholder whose answer is lost, and not the one before of the same names", async () => {
    await failed("lost", onboarding("Lost", "Refused"));
    const [before] = await named("Lost");
    await rig.simulator.addFault({ kind: "dropped", operation: "createCardholder" });
    const patch = { cardholder: { date_birth: "1991-01-01" }, replaced: "keep" };
    expect((await amend("lost", patch)).exitCode).toBe(0);
    expect(await rig.ended("lost")).toBe("FAILED");
    const both = await named("Lost");
    expect(both).toHaveLength(2);
    const other = both.find(({ card_holder_id }) => card_holder_id !== before!.card_holder_id);
    await rig.simulator.setVerification(other!.card_holder_id, "SUCCESS");
    expect((await retry("lost")).exitCode).toBe(0);
    expect(await rig.ended("lost")).toBe("COMPLETED");
    expect(await rig.temporal.client.workflow.result("lost")).toMatchObject({
      card_holder_id: other!.card_holder_id,
    });
  });

  it("is onboarded anew under another id", async () => {
    await failed("first", onboarding("Anew", "Refused"));
    const input = onboarding("Anew", "Refused");
    await rig.start("onboardCardholder", "second", {
      ...input,
      cardholder: { ...cardholder, first_name: "Anew", last_name: "Other" },
    });
    expect(await rig.ended("second")).toBe("COMPLETED");
  });
});
