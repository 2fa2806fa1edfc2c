/**
 * How the workflows of this package upgrade where workers have versions: they continue under the current one. Payouts wait
 * for weeks; pinned, each would keep the workers of its first version alive as long. Every stored history is replayed in
 * the tests, which makes that safe.
 *
 * A worker applies it as its default. The definitions do not say it themselves: the server refuses a workflow task in
 * which a worker without a version names a behavior.
 */
export const VERSIONING_BEHAVIOR = "AUTO_UPGRADE";
