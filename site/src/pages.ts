/** A part of the site's side bar: its pages are files of `docs/`, without `.md`. */
export interface Part {
  readonly text: string;
  readonly pages: ReadonlyArray<string>;
}

/** Every page of `docs/`, in the order in which a reader meets them. */
export const PARTS: ReadonlyArray<Part> = [
  { text: "Tutorials", pages: ["first-payment", "first-workflow"] },
  {
    text: "How-to",
    pages: [
      "run-payments",
      "answer-and-approve",
      "batches",
      "retry-and-cancel",
      "own-operations",
      "test-workflows",
      "deploy",
      "runbook",
      "restore",
    ],
  },
  {
    text: "Reference",
    pages: ["commands", "settings", "assumptions", "errors-and-outcomes", "metrics"],
  },
  { text: "Explanation", pages: ["how-it-works", "steps"] },
  { text: "Inside", pages: ["architecture", "ledger-states"] },
];

/** Where what is no page of the site can be read. */
export const REPOSITORY = "https://github.com/durable-payments/durable-payments";
