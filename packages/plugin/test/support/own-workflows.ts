/** A module that has forgotten the workflows of payments. */
export async function own(): Promise<void> {}
