// Every contract case, in the order of the rules in spec/contract.md.
import { applyCases } from "./applying.ts";
import { builtObjectCases } from "./built-objects.ts";
import type { ContractCase } from "./case.ts";
import { celCases } from "./cel.ts";
import { claimGrowthCases } from "./claim-growth.ts";
import { claimQuarantineCases } from "./claim-quarantine.ts";
import { concurrencyCases } from "./concurrency.ts";
import { configMapCases, eventCases, secretCases, serviceAccountCases } from "./config-kinds.ts";
import { bindingCases, namespaceCases, nodeCases, serviceCases } from "./core-kinds.ts";
import { deploymentMistakeCases, otherMistakeCases, serviceMistakeCases } from "./mistakes.ts";
import { podResizeCases } from "./pod-resize.ts";
import { podMistakeCases } from "./pod-mistakes.ts";
import { podCases } from "./pods.ts";
import { streamCases } from "./streams.ts";
import { printerColumnCases } from "./printer-columns.ts";
import { dryRunCases, fieldValidationCases, generateNameCases } from "./request-options.ts";
import { networkPolicyCases } from "./network-policies.ts";
import { leaseCases, rbacCases } from "./small-kinds.ts";
import { definitionCases } from "./definitions.ts";
import { finalizerCases, gracePeriodCases } from "./deleting.ts";
import { discoveryCases, openApiCases } from "./discovery.ts";
import { alreadyExistsCases, invalidCases, notFoundCases } from "./errors.ts";
import { backgroundCases, foregroundCases, orphanCases } from "./garbage-collection.ts";
import { identityCases } from "./identity.ts";
import { ownResourceCases } from "./own-resources.ts";
import { pagingCases } from "./paging.ts";
import { jsonPatchCases, mergePatchCases, strategicPatchCases } from "./patching.ts";
import {
  explanationCases,
  nodeAffinityCases,
  nodeSelectorCases,
  resourceCases,
  taintCases,
} from "./scheduler-nodes.ts";
import {
  podAffinityCases,
  podAntiAffinityCases,
  preferredPodCases,
  spreadCases,
  volumeZoneCases,
} from "./scheduler-pods.ts";
import { domainCases } from "./scheduler-domains.ts";
import { defaultingCases, pruningCases, validationCases } from "./schemas.ts";
import { fieldSelectorCases, labelSelectorCases } from "./selectors.ts";
import { claimCases, storageClassCases, volumeCases } from "./storage-kinds.ts";
import { statusCases } from "./subresource-status.ts";
import { bookmarkCases, compactionCases, watchCases } from "./watching.ts";
import { deploymentCases, disruptionBudgetCases, evictionCases } from "./workload-kinds.ts";

export const allCases: readonly ContractCase[] = [
  ...identityCases,
  ...concurrencyCases,
  ...alreadyExistsCases,
  ...notFoundCases,
  ...invalidCases,
  ...labelSelectorCases,
  ...fieldSelectorCases,
  ...pagingCases,
  ...watchCases,
  ...bookmarkCases,
  ...compactionCases,
  ...mergePatchCases,
  ...jsonPatchCases,
  ...strategicPatchCases,
  ...statusCases,
  ...applyCases,
  ...finalizerCases,
  ...gracePeriodCases,
  ...generateNameCases,
  ...dryRunCases,
  ...fieldValidationCases,
  ...backgroundCases,
  ...foregroundCases,
  ...orphanCases,
  ...validationCases,
  ...defaultingCases,
  ...pruningCases,
  ...printerColumnCases,
  ...celCases,
  ...definitionCases,
  ...discoveryCases,
  ...openApiCases,
  ...namespaceCases,
  ...nodeCases,
  ...podCases,
  ...streamCases,
  ...podMistakeCases,
  ...serviceMistakeCases,
  ...deploymentMistakeCases,
  ...otherMistakeCases,
  ...bindingCases,
  ...evictionCases,
  ...serviceCases,
  ...configMapCases,
  ...secretCases,
  ...serviceAccountCases,
  ...eventCases,
  ...disruptionBudgetCases,
  ...networkPolicyCases,
  ...deploymentCases,
  ...leaseCases,
  ...rbacCases,
  ...claimCases,
  ...claimGrowthCases,
  ...podResizeCases,
  ...claimQuarantineCases,
  ...volumeCases,
  ...storageClassCases,
  ...ownResourceCases,
  ...builtObjectCases,
  ...resourceCases,
  ...nodeSelectorCases,
  ...nodeAffinityCases,
  ...taintCases,
  ...explanationCases,
  ...podAffinityCases,
  ...podAntiAffinityCases,
  ...domainCases,
  ...preferredPodCases,
  ...spreadCases,
  ...volumeZoneCases,
];
