// Reviews are questions sent by POST and not stored. Everybody with a token may do everything.
import type { KubeResponse } from "../kube/transport.ts";
import type { ServerRequest } from "./handler.ts";
import { objectAt, type JsonObject } from "./json.ts";

const authorization = "/apis/authorization.k8s.io/v1/";
const authentication = "/apis/authentication.k8s.io/v1/";

export const reviewKinds = [
  { group: "authentication.k8s.io", plural: "selfsubjectreviews", kind: "SelfSubjectReview" },
  { group: "authentication.k8s.io", plural: "tokenreviews", kind: "TokenReview" },
  {
    group: "authorization.k8s.io",
    plural: "selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
  },
  {
    group: "authorization.k8s.io",
    plural: "selfsubjectrulesreviews",
    kind: "SelfSubjectRulesReview",
  },
  { group: "authorization.k8s.io", plural: "subjectaccessreviews", kind: "SubjectAccessReview" },
] as const;

export function answerReview(request: ServerRequest): KubeResponse | undefined {
  if (request.method !== "POST") return undefined;
  const { path } = request;
  if (!path.startsWith(authorization) && !path.startsWith(authentication)) return undefined;
  const plural = path.slice(path.lastIndexOf("/") + 1);
  const review = reviewKinds.find((candidate) => candidate.plural === plural);
  if (review === undefined) return undefined;
  const apiVersion = `${review.group}/v1`;
  const spec = objectAt(request.body, "spec");
  const body: JsonObject = {
    ...{ kind: review.kind, apiVersion, metadata: {} },
    ...(review.kind === "SelfSubjectReview" ? {} : { spec }),
    status: reviewStatus(review.kind, request.userName ?? "admin"),
  };
  return { status: 201, body };
}

function reviewStatus(kind: string, userName: string): JsonObject {
  const groups = ["system:masters", "system:authenticated"];
  switch (kind) {
    case "SelfSubjectReview":
      return { userInfo: { username: userName, groups } };
    case "TokenReview":
      return { authenticated: true, user: { username: userName, groups } };
    case "SelfSubjectRulesReview":
      return {
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
        incomplete: false,
      };
    default:
      return { allowed: true };
  }
}
