import type { BaseModel } from '../../../crds/generated.ts'
import { annotations, labels, slugOf } from '../../../crds/names.ts'
import type { OperatorJob } from '../../../db/jobs/resources.ts'
import type { KubeObject } from '../../../lib/kube/apply.ts'
import type { PodSettings } from '../../base-model/pod/common.ts'
import { ownerOf } from '../../base-model/pod/labels.ts'
import { buildJobPodTemplate, trainerHash } from '../../base-model/trainer/pod.ts'

/** The label that makes a Job wait in a LocalQueue of Kueue. */
const queueLabel = 'kueue.x-k8s.io/queue-name'
// A pod's name has a hyphen and five characters more, and its hostname at most 63.
const maxSlug = 30

/** A job from Postgres, and the key of its resource. */
export interface JobOfResource {
  job: Pick<OperatorJob, 'id' | 'attempt' | 'queueName' | 'priorityClassName'>
  key: string
}

/**
 * The Job that runs the pods of a job's next attempt. It makes a new pod for one that was disrupted, when that is gone. A
 * pod that fails by itself ends the Job: the operator decides whether there is another.
 */
export function buildJob(baseModel: BaseModel, settings: PodSettings, { job, key }: JobOfResource): KubeObject {
  const own = { [labels.job]: job.id }
  const note = { [annotations.trainingJob]: key }
  const { id, queueName, priorityClassName } = job
  const template = buildJobPodTemplate(baseModel, settings, { id, priorityClassName, labels: own, annotations: note })
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: nameJob(job, key),
      namespace: baseModel.metadata.namespace,
      labels: {
        ...template.metadata.labels,
        [labels.specHash]: trainerHash(baseModel, settings),
        ...(queueName !== null && { [queueLabel]: queueName }),
      },
      annotations: note,
      ownerReferences: [ownerOf(baseModel)],
    },
    spec: {
      // Kueue sets it to false when there is quota.
      ...(queueName !== null && { suspend: true }),
      backoffLimit: 0,
      podReplacementPolicy: 'Failed',
      podFailurePolicy: {
        rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
      },
      template,
    },
  } as KubeObject
}

/** A Job of a number exists once: the next is made when this one is gone. */
function nameJob({ id, attempt }: JobOfResource['job'], key: string): string {
  const [, name = ''] = key.split('/')
  return `${slugOf(name, maxSlug)}-${id.slice(-12)}-${attempt + 1}`
}
