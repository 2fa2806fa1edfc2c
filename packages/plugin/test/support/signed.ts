import { createHmac, randomUUID } from "node:crypto";

/** Signs a body as the Standard Webhooks specification describes it. `sent`: another body than the signed one. */
export const signed = (
  secret: string,
  content: object,
  given: { readonly at?: Date; readonly secret?: string; readonly sent?: string } = {},
) => {
  const { at = new Date(), sent } = given;
  const id = `msg_${randomUUID()}`;
  const body = JSON.stringify(content);
  const time = Math.floor(at.getTime() / 1_000);
  const key = Buffer.from((given.secret ?? secret).replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
  return {
    body: sent ?? body,
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": `${time}`,
      "webhook-signature": `v1,${signature}`,
    },
  };
};
