/** A part of the site's side bar: its pages are files of `docs/`, without `.md`. */
export interface Part {
  readonly text: string;
  readonly pages: ReadonlyArray<string>;
}

/** Every page of `docs/`, in the order in which a reader meets them. */
export const PARTS: ReadonlyArray<Part> = [
  {
    text: "Start",
    pages: ["first-workflow", "concepts", "composing", "testing", "set-up", "inputs"],
  },
  {
    text: "Operate",
    pages: [
      "commands",
      "runs",
      "batches",
      "accounts",
      "notifications",
      "runbook",
      "settings",
      "errors",
    ],
  },
  { text: "Repair", pages: ["lost-answers", "repair", "debugging", "disaster-recovery"] },
  {
    text: "Production",
    pages: [
      "production",
      "metrics",
      "encryption",
      "deployments",
      "versioning",
      "capacity",
      "scale",
    ],
  },
  { text: "Inside", pages: ["architecture", "assumptions", "explorer", "chaos"] },
];

/** Where what is no page of the site can be read. */
export const REPOSITORY = "https://github.com/durable-payments/durable-payments";
