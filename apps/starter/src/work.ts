// The work of commands and its output. Loaded by the command that runs, so that `--help` does not wait for it.

export * from "@durable-payments/control/show";
export * from "./input/answering.ts";
export * from "./input/approving.ts";
export * from "./input/following.ts";
export * from "./input/given.ts";
export * from "./input/limiting.ts";
export * from "./input/paying.ts";
export * from "./input/previewing.ts";
export * from "./input/retrying.ts";
export * from "./input/confirming.ts";
export * from "./input/words.ts";
export * from "./output/batch-text.ts";
export * from "./output/configuration.ts";
export * from "./output/duplicates-text.ts";
export * from "./output/event-text.ts";
export * from "./output/installation.ts";
export * from "./output/list-text.ts";
export * from "./output/log-text.ts";
export * from "./output/next.ts";
export * from "./output/output.ts";
export * from "./output/progress.ts";
export * from "./output/repair-text.ts";
export * from "./output/replay-text.ts";
export * from "./output/report-text.ts";
export * from "./output/run-text.ts";
export { counted } from "./output/text.ts";
export * from "./payments.ts";
