import proto from "@temporalio/proto";

const { Status } = proto.google.rpc;
const { NamespaceNotFoundFailure, NotFoundFailure } = proto.temporal.api.errordetails.v1;

interface Said {
  readonly details: string;
  /** The type of what is said beside the text, and that. */
  readonly failure?: readonly [type: string, value: Uint8Array];
}

/** An error of gRPC as the connection of a client throws it; that of a worker has the text as its message alone. */
export const grpcError = (code: number, { details, failure }: Said): Error => {
  const [type, value = null] = failure ?? [];
  const bytes = Status.encode({
    code,
    message: details,
    details: [{ type_url: `type.googleapis.com/temporal.api.errordetails.v1.${type}`, value }],
  }).finish();
  const bytesOf = (name: string) =>
    failure !== undefined && name === "grpc-status-details-bin" ? [Buffer.from(bytes)] : [];
  return Object.assign(new Error(`${code} ERROR: ${details}`), {
    code,
    details,
    metadata: { get: bytesOf },
  });
};

/** What Temporal says of a run that it does not have. */
export const noRun = (
  clusters: { readonly [at in "currentCluster" | "activeCluster"]?: string } = {},
) =>
  grpcError(5, {
    details: "workflow not found for ID: invoice-1",
    failure: ["NotFoundFailure", NotFoundFailure.encode(clusters).finish()],
  });

/** What Temporal says of a namespace that it does not have. */
export const noNamespace = () =>
  grpcError(5, {
    details: "Namespace payments is not found.",
    failure: [
      "NamespaceNotFoundFailure",
      NamespaceNotFoundFailure.encode({ namespace: "payments" }).finish(),
    ],
  });

/** What something says that is no Temporal server. */
export const noRoute = () => grpcError(5, { details: "no route for payments.acct" });
