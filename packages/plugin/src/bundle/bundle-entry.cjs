"use strict";

// Entry of a workflow bundle that PaymentsPlugin has configured: the entry that the Temporal SDK generates, with the
// project's workflows beside those of the bundle's author. It is read by the bundler alone, which knows both names.
const entry = require("durable-payments-sdk-entry");

const importWorkflows = () => {
  const own = entry.importWorkflows();
  const ours = require("durable-payments-definitions");
  for (const [name, workflow] of Object.entries(ours)) {
    // Whoever starts "payout" must know what runs.
    if (own[name] !== undefined && own[name] !== workflow) {
      throw new TypeError(
        `Two workflows have the name ${name}: that of @durable-payments/workflows, and yours. Give yours another name.`,
      );
    }
  }
  return { ...own, ...ours };
};

module.exports = { ...entry, importWorkflows };
