/** Which build this is: the ledger keeps builds from sending that are older than the oldest it allows. */
export const BUILD = 1;
