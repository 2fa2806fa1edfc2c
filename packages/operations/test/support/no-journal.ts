import type { JournalSettings } from "../../src/connection/journal.ts";

/** No journal can be read here. */
export const NO_JOURNAL: JournalSettings = { clientId: undefined, journal: undefined };
