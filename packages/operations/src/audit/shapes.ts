import * as Schema from "effect/Schema";

// Anybody may have written it into Temporal: what is not in this shape is not shown.

const Overruled = Schema.Struct({ by: Schema.String, why: Schema.String, at: Schema.String });

const Decision = Schema.Struct({
  what: Schema.Literals(["abandoned", "rejected"]),
  by: Schema.String,
  why: Schema.String,
  at: Schema.String,
  runId: Schema.String,
  overruled: Schema.optionalKey(Overruled),
});

/** Whether a value is what `importBatch` writes of a batch that was rejected, and overruled. */
export const isOverruledBatch = Schema.is(
  Schema.Struct({ ...Decision.fields, workflowId: Schema.String, overruled: Overruled }),
);

const Instruction = Schema.Struct({
  by: Schema.String,
  reason: Schema.String,
  from: Schema.String,
  fields: Schema.Array(Schema.String),
  decisions: Schema.optionalKey(Schema.Array(Decision)),
});

/** What the audit shows of a retry. */
export type AuditedInstruction = typeof Instruction.Type;

/** Whether a value says who had a run retried, and why, as `retryRun` writes it. */
export const isInstruction = Schema.is(Instruction);
