/** A part of the site's sidebar: its pages are files of `docs/`, without `.md`. */
export interface Part {
  readonly text: string;
  readonly pages: ReadonlyArray<string>;
}

/** Every page of `docs/` for users, in Diátaxis order. Pages for contributors are in `docs/contributors/`. */
export const PARTS: ReadonlyArray<Part> = [
  { text: "Tutorials", pages: ["first-payment", "first-card", "first-workflow"] },
  {
    text: "How-to",
    pages: [
      "pay",
      "onboard-from-a-file",
      "what-did-we-pay",
      "track-payouts",
      "when-money-comes-back",
      "answer-and-approve",
      "retry-and-cancel",
      "preview-a-retry",
      "repair-failed-runs",
      "events",
      "client",
      "write-workflows",
      "schedules",
      "test-workflows",
      "build-your-own-tools",
      "deploy",
      "upgrade",
      "restore",
      "retention",
      "runbook",
    ],
  },
  {
    text: "Reference",
    pages: ["commands", "settings", "assumptions", "errors-and-outcomes", "metrics"],
  },
  { text: "Explanation", pages: ["how-it-works"] },
];

/** Packages and apps whose READMEs are for users, in the order of the sidebar. */
export const PACKAGES: ReadonlyArray<string> = [
  "durable-payments",
  "api-core",
  "codec",
  "simulator",
  "create",
  "starter",
  "worker",
];

/** Files that are not pages of the site are read here. */
export const REPOSITORY = "https://github.com/durable-payments/durable-payments";
