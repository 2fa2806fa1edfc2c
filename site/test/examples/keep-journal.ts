import { openJournal, readJournalPlace } from "@durable-payments/journal";

// "postgres://…", "sqlite:/var/lib/payments/journal.sqlite", or undefined for a file in your state folder.
const place = readJournalPlace(process.env["PAYMENTS_JOURNAL"], "client-hash");
const journal = await openJournal(place, "client-hash");
await journal.close();
