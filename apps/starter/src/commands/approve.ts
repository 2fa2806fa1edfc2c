import type { Approval } from "@durable-payments/protocol";
import * as Option from "effect/Option";
import { Command, Flag } from "effect/cli";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, expectedRunId, json, runId } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  id: runId,
  by,
  hash: Flag.String("hash").pipe(
    Flag.withMetavar("HASH"),
    Flag.withDescription("Hash of the payment, from `starter attention`"),
  ),
  reject: Flag.String("reject").pipe(
    Flag.withMetavar("WHY"),
    Flag.withDescription("Say no instead, and end the run"),
    Flag.optional,
  ),
  expectedRunId,
  json,
};

/** `starter approve`: a second person's yes or no to a payment. */
export const approve = Command.make(
  "approve",
  flags,
  ({ by, expectedRunId, hash, id, json, reject }) =>
    runCommand(json, async (output) => {
      const approval: Approval = Option.match(reject, {
        onNone: () => ({ by, hash, approve: true as const }),
        onSome: (why) => ({ by, hash, reject: why }),
      });
      const { approveUpdate } = await import("@durable-payments/protocol");
      const { withTemporal } = await import("../settings.ts");
      const { decide } = await import("@durable-payments/operations/decisions");
      const runId = await withTemporal((temporal) =>
        decide(temporal, id, approveUpdate, approval, Option.getOrUndefined(expectedRunId)),
      );
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
  for the whole payment, so that nothing else is approved; who started the run
  cannot approve it. \`starter attention\` shows the payment and its hash.

  ${EXIT_CODES_HELP}`,
  ),
);
