/** A workflow that composes nothing of this project's. */
export async function payInvoice(): Promise<string> {
  return "paid";
}
