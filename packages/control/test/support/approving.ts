import { decideBatch } from "../../src/actions/batch/batch.ts";
import { type Approval, approve } from "../../src/actions/decide/index.ts";
import type { Connected } from "../../src/facts/connection/connections.ts";
import { approvalsOf } from "../../src/views/inbox.ts";

type Deciding = Pick<Connected, "ledger">;
type Given = Omit<Approval, "hash"> & { readonly hash?: string | undefined };

/** Names nothing that was ever shown. */
const NOTHING = "0".repeat(32);

/** Reads the hash of what waits for approval now, as a person who opens the inbox does. */
export const readHash = async (
  { ledger }: Deciding,
  id: string,
  asked?: string,
): Promise<string> => {
  const items = await approvalsOf(ledger, id);
  const item = items.find(
    ({ kind, question }) => kind !== "question" && (asked === undefined || question === asked),
  );
  return item?.hash ?? NOTHING;
};

/** Reads what waits, and approves that. */
export const approveRead = async (deciding: Deciding, id: string, given: Given): Promise<void> =>
  approve(deciding, id, {
    ...given,
    hash: given.hash ?? (await readHash(deciding, id, given.question)),
  });

/** Reads the rows of a file, and approves them. */
export const approveFile = async (
  deciding: Deciding,
  id: string,
  given: Given,
): ReturnType<typeof decideBatch> =>
  decideBatch(deciding, id, "approve", {
    ...given,
    hash: given.hash ?? (await readHash(deciding, id)),
  });
