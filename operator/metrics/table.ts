import type { MetricTable } from '../../lib/metrics/definition.ts'

const controller = ['controller'] as const
const pods = ['base_model', 'role', 'state'] as const

/** The operator's metrics. A standby only has those of its process; the leader has all. */
export const operatorMetrics = {
  counters: {
    reconciles: {
      name: 'trainyard_reconciles_total',
      help: 'Reconciliations and other work of a queue, failed ones too.',
      labelNames: controller,
    },
    reconcileErrors: {
      name: 'trainyard_reconcile_errors_total',
      help: 'Reconciliations that failed and are repeated after a growing delay.',
      labelNames: controller,
    },
    watchRestarts: {
      name: 'trainyard_watch_restarts_total',
      help: 'How often a list or a watch of the Kubernetes API failed.',
      labelNames: ['kind'],
    },
    adapterLoads: {
      name: 'trainyard_adapter_loads_total',
      help: 'Attempts of the operator to load the adapter of a checkpoint on an engine. The outcome is `loaded`, `rejected` or `failed`.',
      labelNames: ['base_model', 'outcome'],
    },
    jobsEnded: {
      name: 'trainyard_jobs_ended_total',
      help: 'Training jobs that ended, by the state that they ended in.',
      labelNames: ['base_model', 'state'],
    },
    drift: {
      name: 'trainyard_drift_total',
      help: 'Differences between cluster, database and store that were found and put right. The case is `model_resource_lost` or `job_resource_lost` (a row without its resource, which is made again), `model_row_lost` or `job_row_lost` (a resource without its row, which is inserted again), `job_resource_deleted` (the job is cancelled), `pod_unwanted` (a trainer more than wanted, without autoscaling, or without its base model), `deployment_changed` (of engines, by somebody else) or `file_unreferenced` (after its quarantine).',
      labelNames: ['case'],
    },
    podSeconds: {
      name: 'trainyard_pod_seconds_total',
      help: 'Seconds that pods of engines and trainers existed on a node. The state is `busy`, `idle`, `starting` (not Ready) or `unknown` (the engine did not answer).',
      labelNames: pods,
    },
    gpuSeconds: {
      name: 'trainyard_gpu_seconds_total',
      help: 'The same, times the GPUs that the pod requests.',
      labelNames: pods,
    },
  },
  gauges: {
    leader: {
      name: 'trainyard_leader',
      help: '1 if this replica holds the Lease and works, else 0.',
      labelNames: [],
    },
    watchAge: {
      name: 'trainyard_watch_age_seconds',
      help: 'The time since a watch got its last message from the Kubernetes API.',
      labelNames: ['kind'],
    },
    queueDepth: {
      name: 'trainyard_queue_depth',
      help: 'Keys that wait for their work, without those that wait for a delay.',
      labelNames: controller,
    },
    pods: {
      name: 'trainyard_pods',
      help: 'Pods of engines and trainers by state, as of the last sample (every 10 seconds).',
      labelNames: pods,
    },
    jobs: {
      name: 'trainyard_jobs',
      help: 'Unfinished training jobs by state.',
      labelNames: ['base_model', 'state'],
    },
    pauses: {
      name: 'trainyard_queue_pauses',
      help: 'Pauses of waiting jobs that are in force. The pause is `all` (of all entities), `administrator` (of one entity, by the administrator) or `entity` (of one entity, by its admins).',
      labelNames: ['pause'],
    },
    storeBytes: {
      name: 'trainyard_artifact_store_bytes',
      help: 'The room in the volume of the artifact store. The state is `free` or `used`. A bucket has no such numbers.',
      labelNames: ['state'],
    },
  },
  histograms: {
    queueWaits: {
      name: 'trainyard_queue_wait_seconds',
      help: 'How long a key waited in its queue before its work began.',
      labelNames: controller,
    },
    reconcileDurations: {
      name: 'trainyard_reconcile_duration_seconds',
      help: 'How long a reconciliation took.',
      labelNames: controller,
    },
    adapterLoadDurations: {
      name: 'trainyard_adapter_load_duration_seconds',
      help: 'How long an engine took to load the adapter of a checkpoint and to answer with it.',
      labelNames: ['base_model'],
    },
    publishToServed: {
      name: 'trainyard_publish_to_served_seconds',
      help: 'The time from the row of a new checkpoint to the moment when the engines that should serve it have loaded it.',
      labelNames: ['base_model'],
    },
    coldStarts: {
      name: 'trainyard_engine_cold_start_seconds',
      help: 'The time from the creation of an engine pod to the first time that it is Ready.',
      labelNames: ['base_model'],
    },
  },
} as const satisfies MetricTable
