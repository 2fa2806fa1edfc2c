import { Command } from "effect/cli";
import { EXIT_CODES } from "../../exit-codes.ts";
import { json } from "../flags.ts";
import { runCommand } from "../run-command.ts";

/** `starter notify test`: has the worker post one test notification. */
export const test = Command.make("test", { json }, (flags) =>
  runCommand(flags.json, async (output) => {
    const { withTemporal } = await import("../../settings.ts");
    const { testNotification } = await import("@durable-payments/operations/notifications");
    const { deliveryText } = await import("../../output/delivery-text.ts");
    const delivery = await withTemporal((temporal) => testNotification(temporal));
    output.answer(delivery, deliveryText);
    return delivery.isDelivered ? EXIT_CODES.done : EXIT_CODES.runFailed;
  }),
).pipe(
  Command.withShortDescription("Post one test notification, and show what became of it"),
  Command.withDescription(
    `Have a worker post one signed test notification to its PAYMENTS_NOTIFY_URL,
  and show the status that the endpoint answers, or why there is none. The
  worker posts it, so that its settings and its network are what is tested.

  Exit codes: 0 delivered, 1 not delivered, 2 the workers notify nobody, 3
  cannot connect to Temporal, or no worker answers.`,
  ),
);
