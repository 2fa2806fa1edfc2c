/**
 * The steps of payment workflows: for workflow code, which Temporal's SDK bundles. Workflows to start, or to export with
 * workflows of your own, are here as well.
 *
 * @module durable-payments/workflows
 */
export * from "@durable-payments/workflows";
export * from "@durable-payments/workflows/definitions";
