import { proxyActivities } from "@temporalio/workflow";

type Call = (request: object) => Promise<Readonly<Record<string, string>>>;

const activities = proxyActivities<
  Record<"awaitPayout" | "createBeneficiary" | "createPayout", Call>
>({
  startToCloseTimeout: "1 minute",
});

/** The workflow `payout` as it is without this package: the activities' results are believed. */
export async function payout(input: {
  beneficiary?: object;
  beneficiary_id?: string;
  payout: object;
}) {
  const { beneficiary_id } =
    input.beneficiary === undefined ? input : await activities.createBeneficiary(input.beneficiary);
  const created = await activities.createPayout({ ...input.payout, beneficiary_id });
  return activities.awaitPayout(created);
}
