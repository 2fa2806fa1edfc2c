/**
 * How the workflows of this package upgrade where workers have versions: they go on under the
 * current one. Payouts wait for weeks; pinned, each would keep the workers of its first version
 * alive as long, and a mended fault would never reach it. What makes that safe is that every
 * stored history is replayed in the tests, and those of a server by `starter runs replay`.
 *
 * A worker applies it as its default. The definitions do not say it themselves: the server
 * refuses a workflow task in which a worker without a version names a behavior.
 */
export const VERSIONING_BEHAVIOR = "AUTO_UPGRADE";
