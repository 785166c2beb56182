import { createHash } from 'node:crypto'
import { createObject, type KubeObject } from './apply.ts'
import type { KubeClient } from './client.ts'
import { eventPath } from './paths.ts'

/** A Kubernetes Event, as `kubectl describe` shows it. */
export interface EventSpec {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
}

/**
 * Records a Kubernetes Event about an object, once. Its name is a digest of its contents, so the same event, for
 * instance after a restart, is not recorded twice.
 */
export async function recordEvent(client: KubeClient, about: KubeObject, event: EventSpec): Promise<void> {
  const { apiVersion, kind } = about
  const { name = '', namespace = '', uid = '' } = about.metadata
  const digest = createHash('sha256').update(`${uid}/${event.reason}/${event.message}`).digest('hex').slice(0, 16)
  const now = new Date().toISOString()
  const component = client.userAgent
  await createObject(client, eventPath(namespace), {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, 200)}.${digest}`, namespace },
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
