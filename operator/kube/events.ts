import { createHash } from 'node:crypto'
import { createObject, type KubeObject } from './apply.ts'
import type { KubeClient } from './client.ts'
import { eventPath } from './paths.ts'

/** One line of an object's story, as `kubectl describe` shows it. */
export interface StoryEvent {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
}

const component = 'trainyard-operator'

/**
 * Records a Kubernetes Event about an object, once: its name is made from what it says, so that the same thing said
 * again (after a restart, say) is no second event.
 */
export async function recordEvent(client: KubeClient, about: KubeObject, event: StoryEvent): Promise<void> {
  const { apiVersion, kind } = about
  const { name = '', namespace = '', uid = '' } = about.metadata
  const said = createHash('sha256').update(`${uid}/${event.reason}/${event.message}`).digest('hex').slice(0, 16)
  const now = new Date().toISOString()
  await createObject(client, eventPath(namespace), {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, 200)}.${said}`, namespace },
    involvedObject: { apiVersion, kind, name, namespace, uid },
    ...event,
    message: event.message.slice(0, 1000),
    source: { component },
    reportingComponent: component,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  } as KubeObject)
}
