import { auditQuery, progressQuery } from "@durable-payments/protocol";
import { describe, expect, it } from "vitest";
import { onboardCardholder, payout } from "../src/index.ts";
import { decide } from "./support/decide.ts";
import { useRig, useService } from "./support/hooks.ts";
import { beneficiary, onboardInput, payoutInput } from "./support/inputs.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { untilAsked } from "./support/until.ts";

// A card is sent again several times before a person is asked; a busy machine takes its time.

// On a real server: the one that skips time loses updates when the machine is busy.
describe("an id that a person gives", () => {
  const rig = useRig(localRig);
  const service = useService({ settleAfter: 0, verifyAfter: 0 });

  const lostCard = async () => {
    await service.simulator.addFault({ kind: "dropped", operation: "createCard" });
    await service.simulator.addFault({ kind: "repeated-key-refusal", operation: "createCard" });
  };

  it("of a card that gets a name is asked for again, where the service does not know it", async () => {
    await lostCard();
    const card = { ...onboardInput.card, card_name: "Travel" };
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(onboardCardholder, [{ ...onboardInput, card }]);
      await untilAsked(handle);
      await decide(handle, { by: "Olga", found: { card_id: "nonsense" } });
      await untilAsked(handle, "What was found is not it");
      const [made] = (await service.simulator.state()).cards;
      await decide(handle, { by: "Olga", found: { card_id: made!.card_id } });
      expect(await handle.result()).toMatchObject({
        card_id: made!.card_id,
        not_confirmed: `card_id ${made!.card_id} is as given by Olga: the service has taken a name for it, and does not show whose it is`,
      });
    });
  });

  it("of a card without a name is taken, and result and audit say that nothing confirms it", async () => {
    await lostCard();
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(onboardCardholder, [onboardInput]);
      await untilAsked(handle);
      const { attention } = await handle.query(progressQuery);
      expect(attention?.consequences.found).toContain("taken as you give it, not confirmed");
      await decide(handle, { by: "Olga", found: { card_id: "nonsense" } });
      const reason = "card_id nonsense is as given by Olga: not confirmed by the service";
      expect(await handle.result()).toMatchObject({ card_id: "nonsense", not_confirmed: reason });
      expect(await handle.query(auditQuery)).toContainEqual(
        expect.objectContaining({
          step: "confirmCard",
          what: "not confirmed",
          detail: { card_id: "nonsense", reason },
        }),
      );
    });
  });

  it("of a beneficiary is asked for again, where the service does not know it, or as another account", async () => {
    const { beneficiary_id: other } = await service.client.createBeneficiary({
      ...beneficiary,
      iban: "DE02120300000000202051",
    });
    await service.simulator.addFault({ kind: "dropped", operation: "createBeneficiary" });
    const options = { onLostBeneficiary: "ask" } as const;
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(payout, [{ ...payoutInput, options }]);
      await untilAsked(handle);
      await decide(handle, { by: "Olga", found: { beneficiary_id: "nonsense" } });
      await untilAsked(handle, "What was found is not it");
      await decide(handle, { by: "Olga", found: { beneficiary_id: other } });
      await untilAsked(handle, `${other} has another iban than was sent`);
      const made = (await service.simulator.state()).beneficiaries.at(-1)!;
      await decide(handle, { by: "Olga", found: { beneficiary_id: made.beneficiary_id } });
      await handle.result();
      const { payouts } = await service.simulator.state();
      expect(payouts).toMatchObject([{ beneficiary_id: made.beneficiary_id }]);
    });
  });
});
