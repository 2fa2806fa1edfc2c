"use strict";

// The bundler cannot see which names these are.
Object.assign(exports, {
  /** It has the name of a workflow of the project. */
  payout: async () => "mine",
  /** It has a name of its own. */
  other: async () => "other",
});
