// Asks the API server what we are allowed to do, so that what is forbidden is said at the start and not found out by
// failures. Everybody may ask this about themselves. Carries rule KUBE80.
import type { KubeClient, Verb } from "./client.ts";
import { resourceOf } from "./resource.ts";
import type { Resource, Stored } from "./resource.ts";

interface AccessReview {
  spec: { resourceAttributes: Record<string, string> };
  status?: { allowed?: boolean };
}

const accessReviews = resourceOf<AccessReview>(
  "authorization.k8s.io/v1",
  "SelfSubjectAccessReview",
  "selfsubjectaccessreviews",
  false,
);

/** The verbs of these that are not allowed, in all namespaces when none is given. */
export async function forbiddenVerbs(
  client: KubeClient,
  resource: Resource<unknown>,
  verbs: readonly Verb[],
  namespace?: string,
  signal?: AbortSignal,
): Promise<Verb[]> {
  const answers = await Promise.all(
    verbs.map(async (verb) => {
      const review: Stored<AccessReview> = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        metadata: {},
        spec: {
          resourceAttributes: {
            verb,
            group: resource.group,
            resource: resource.plural,
            ...(namespace === undefined ? {} : { namespace }),
          },
        },
      };
      const answer = await client.create(accessReviews, review, { signal });
      return answer.status?.allowed === true;
    }),
  );
  return verbs.filter((_, index) => answers[index] === false);
}
