import type { Approval, ApprovalRequest } from "@durable-payments/protocol";
import * as Option from "effect/Option";
import { Command, Flag } from "effect/cli";
import { badUsage, EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { by, expectedRunId, json, runId } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  id: runId,
  by,
  hash: Flag.String("hash").pipe(
    Flag.withMetavar("HASH"),
    Flag.withDescription("Hash of the payment you have read; else you are asked"),
    Flag.optional,
  ),
  reject: Flag.String("reject").pipe(
    Flag.withMetavar("WHY"),
    Flag.withDescription("Say no instead, and end the run"),
    Flag.optional,
  ),
  expectedRunId,
  json,
};

/** Show what is to be approved, and ask: nobody approves what they have not read. */
const confirmRead = async (
  output: Output,
  request: ApprovalRequest,
  question: string,
): Promise<void> => {
  const { requestLines } = await import("../output/progress-lines.ts");
  const { visible } = await import("../output/visible.ts");
  const { canAsk, confirm } = await import("../output/confirm.ts");
  output.say(requestLines(visible(request)).join("\n"));
  if (output.json || !canAsk()) {
    throw badUsage(`Give --hash ${request.hash}: there is nobody to ask. Nothing was done.`);
  }
  if (!(await confirm(question))) throw badUsage("Nothing was done.");
};

/** `starter approve`: a second person's yes or no to a payment. */
export const approve = Command.make(
  "approve",
  flags,
  ({ by, expectedRunId, hash, id, json, reject }) =>
    runCommand(json, async (output) => {
      const { approveUpdate } = await import("@durable-payments/protocol");
      const { withTemporal } = await import("../settings.ts");
      const { decide, readApproval } = await import("@durable-payments/operations/decisions");
      const decideOn = (hash: string): Approval =>
        Option.match(reject, {
          onNone: () => ({ by, hash, approve: true as const }),
          onSome: (why) => ({ by, hash, reject: why }),
        });
      const runId = await withTemporal(async (temporal) => {
        const expected = Option.getOrUndefined(expectedRunId);
        if (Option.isSome(hash)) {
          return await decide(temporal, id, approveUpdate, decideOn(hash.value), expected);
        }
        const { request, runId } = await readApproval(temporal, id, expected);
        await confirmRead(
          output,
          request,
          `${Option.isNone(reject) ? "Approve" : "Reject"} this as ${by}?`,
        );
        return await decide(temporal, id, approveUpdate, decideOn(request.hash), runId);
      });
      const status = Option.isNone(reject) ? "approved" : "rejected";
      output.answer(
        { workflowId: id, runId, status },
        (shown) => `The payment of ${shown.workflowId} is ${status}.`,
      );
      return EXIT_CODES.done;
    }),
).pipe(
  Command.withShortDescription("Approve or reject a payment, as a second person"),
  Command.withDescription(
    `Approve or reject a payment that waits for a second person. The hash stands
  for the whole payment, so that nothing else is approved; who started, amended
  or resent it cannot approve it. \`starter attention\` shows the payment and its
  hash. Without --hash the payment is shown, and you are asked.
  A name is taken as it is given: nobody verifies it.

  ${EXIT_CODES_HELP}`,
  ),
);
