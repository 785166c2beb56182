import type { TrainingJob } from '../../crds/generated.ts'
import type { JobSpecFacts } from '../../crds/manifests.ts'
import type { OperatorJob } from '../../db/jobs/resources.ts'

/** A TrainingJob resource as the API server returns it, with changes to its spec. */
export function makeResource(spec: Partial<TrainingJob['spec']> = {}): TrainingJob {
  return {
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'TrainingJob',
    metadata: { name: 'job', namespace: 'ns', uid: 'u', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      modelRef: { name: 'email' },
      method: 'RL',
      inputRef: { uri: 'artifact:///payloads/acme/a.json', digest: '0'.repeat(64) },
      retry: { limit: 5 },
      ...spec,
    },
  }
}

/** The facts that the row of a job and the spec of its resource share. */
export function makeJobFacts(changes: Partial<JobSpecFacts> = {}): JobSpecFacts {
  return {
    method: 'RL',
    inputUri: 'artifact:///payloads/acme/a.json',
    inputDigest: '0'.repeat(64),
    config: {},
    startDeadlineSeconds: null,
    activeDeadlineSeconds: null,
    mode: 'Warm',
    suspend: false,
    queueName: null,
    priorityClassName: null,
    priority: 0,
    ...changes,
  }
}

/** A job's row. By default it is Queued and first in its queue. */
export function makeJob(changes: Partial<OperatorJob> = {}): OperatorJob {
  return {
    ...makeJobFacts(),
    id: 'j1',
    state: 'Queued',
    entity: 'acme',
    baseModel: 'tiny',
    inputError: null,
    attempt: 0,
    maxAttempts: 6,
    holderPod: null,
    progressStep: 0,
    progressTotal: null,
    failure: null,
    warnings: [],
    stopping: [],
    checkpoint: null,
    resourceCreatedAt: new Date(0),
    createdAt: new Date(0),
    firstClaimedAt: null,
    startedAt: null,
    finishedAt: null,
    reportedAt: null,
    suspendAsked: null,
    suspendedAt: null,
    suspendedSeconds: 0,
    waitingReason: null,
    isUndecided: false,
    ahead: 0,
    firstAhead: null,
    position: 1,
    hasBaseModel: true,
    block: null,
    ...changes,
  }
}
