import type { KubeClient } from '../../../lib/kube/client.ts'
import type { Logger } from '../../../lib/log.ts'
import type { AgentConfig } from '../config.ts'
import type { Events, EventSubject } from '../events.ts'
import type { Service } from '../objects.ts'
import type { PodFolder } from './pod-folder.ts'
import type { PodVolumes } from '../volumes/volumes.ts'

/** The dependencies that all pods of the node share. */
export interface NodeContext {
  config: AgentConfig
  client: KubeClient
  events: Events
  log: Logger
  listServices: () => Service[]
}

/** The dependencies that the containers of a pod share. */
export interface PodContext extends NodeContext {
  subject: EventSubject
  folder: PodFolder
  podIP: string
  volumes: PodVolumes
  /** Wakes the pod's worker. */
  wake: () => void
}
