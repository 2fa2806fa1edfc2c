import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";

/** Registers what the namespace lacks, after one question. */
export const fixNamespace = async (output: Output, isAgreed: boolean): Promise<number> => {
  const { withTemporal } = await import("../settings.ts");
  const { fixNamespace: fix, planFix } = await import("@durable-payments/operations/doctor");
  const { canAsk, confirm } = await import("../output/confirm.ts");
  const { fixQuestion, fixText } = await import("../output/fix-text.ts");
  const { wrap } = await import("../output/text.ts");
  return withTemporal(async (temporal) => {
    const { address, namespace } = temporal.settings;
    const place = { address, namespace };
    const { missing, wrong } = await planFix(temporal);
    if (missing.length > 0 && wrong.length === 0 && !isAgreed) {
      const question = fixQuestion(missing, place);
      if (output.json || !canAsk()) {
        throw badUsage(`${question} Give --yes: there is nobody to ask. Nothing was done.`);
      }
      if (!(await confirm(wrap(question)))) throw badUsage("Nothing was done.");
    }
    const { before, registered } = await fix(temporal);
    output.answer({ ok: true, ...place, registered, before }, (shown) =>
      fixText(shown.registered, shown),
    );
    return EXIT_CODES.done;
  });
};
