import type { TemporalSettings } from "../connection/settings.ts";

/** The page of a run in the Web UI; undefined where TEMPORAL_UI_URL is not set. */
export const webUiLink = (
  { namespace }: TemporalSettings,
  { runId, workflowId }: { readonly workflowId: string; readonly runId: string },
): string | undefined => {
  const base = process.env["TEMPORAL_UI_URL"];
  if (!base) return undefined;
  const path = ["namespaces", namespace, "workflows", workflowId, runId].map(encodeURIComponent);
  return `${base.replace(/\/+$/, "")}/${path.join("/")}`;
};
