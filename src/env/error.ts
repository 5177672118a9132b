// Every way in which the operator can be stopped in its work by something it cannot change, with a title and
// what a person can do about it. Carries rule KUBE77.

export interface ErrorDescription {
  readonly title: string;
  readonly remedy: string;
}

export const errorCodes = {
  KubernetesUnreachable: {
    title: "The Kubernetes API server does not answer",
    remedy: "Check the network and the API server; the operator goes on by itself.",
  },
  KubernetesForbidden: {
    title: "The operator may not do what it has to do in Kubernetes",
    remedy: "Grant its service account the missing verb; the message names verb and resource.",
  },
  KubernetesUnauthorized: {
    title: "The API server does not accept the operator's credentials",
    remedy: "Renew the token or client certificate of the operator.",
  },
  KubernetesConflict: {
    title: "Somebody else changed an object at the same moment",
    remedy: "Nothing to do: the operator looks again and goes on.",
  },
  KubernetesRefused: {
    title: "The API server refused an object that the operator wanted to write",
    remedy: "Correct the part of the spec that the message names, or the policy that forbids it.",
  },
  KubernetesBusy: {
    title: "The API server asks to slow down",
    remedy: "Nothing to do, unless it lasts: then give the API server more capacity.",
  },
  KubeconfigInvalid: {
    title: "The kubeconfig cannot be used",
    remedy: "Correct the file and place that the message names.",
  },
  DatabaseUnreachable: {
    title: "The database does not answer",
    remedy: "Check that a majority of the coordinators runs and can be reached by the operator.",
  },
  DatabaseUnavailable: {
    title: "The database runs but cannot serve",
    remedy: "Look at recovery_state and messages in its status; processes may be missing.",
  },
  DatabaseLocked: {
    title: "The database is locked",
    remedy: "Wait for the restore that locked it, or unlock it with the UID in the message.",
  },
  DatabaseRefused: {
    title: "The database refused a command",
    remedy: "The message holds the database's own words; correct the spec if they concern it.",
  },
  DatabaseClientMissing: {
    title: "There is no client for the version of the database",
    remedy: "Run an operator image that brings the client library of this version.",
  },
  LeaseLost: {
    title: "Another instance of the operator has taken over",
    remedy: "Nothing to do: the instance restarts and waits for its turn.",
  },
  SpecInvalid: {
    title: "The resource asks for something impossible",
    remedy: "Correct the fields that the message names; nothing is done until then.",
  },
  InternalError: {
    title: "The operator made a mistake",
    remedy: "Report it with the log lines around it; other clusters are not affected.",
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>;

export type ErrorCode = keyof typeof errorCodes;

/** A mistake that no retry heals: nothing is tried again before the spec changes. */
export class TerminalError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = "TerminalError";
    this.code = code;
  }
}
