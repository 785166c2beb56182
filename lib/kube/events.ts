import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from '../log.ts'
import { createObject, type KubeObject } from './apply.ts'
import type { KubeClient } from './client.ts'
import { formatMicroTime } from './micro-time.ts'
import { eventPath } from './paths.ts'

/** A Kubernetes Event, as `kubectl describe` shows it. */
export interface EventSpec {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
}

interface Deps {
  client: KubeClient
  log: Logger
}

/**
 * Records Kubernetes Events about an object, each once. Call it after the status was written: an Event that is rejected
 * holds nothing up.
 */
export async function recordEvents({ client, log }: Deps, about: KubeObject, events: EventSpec[]): Promise<void> {
  const record = async (event: EventSpec) => {
    const fields = { kind: about.kind, name: about.metadata.name, reason: event.reason }
    await recordEvent(client, about, event).catch((error: unknown) =>
      log.warn({ ...fields, error }, 'an Event was not recorded'),
    )
  }
  await Promise.all(events.map(record))
}

/** Its name is a digest of its contents, so the same event, for instance after a restart, is not recorded twice. */
async function recordEvent(client: KubeClient, about: KubeObject, event: EventSpec): Promise<void> {
  const { apiVersion, kind } = about
  const { name = '', namespace = '', uid = '' } = about.metadata
  const { type, reason, message } = event
  const digest = createHash('sha256').update(`${uid}/${reason}/${message}`).digest('hex').slice(0, 16)
  await createObject(client, eventPath(namespace), {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${cutName(name)}.${digest}`, namespace },
    eventTime: formatMicroTime(new Date()),
    reportingController: client.userAgent,
    reportingInstance: hostname().slice(0, 128),
    action: 'Reconcile',
    regarding: { apiVersion, kind, name, namespace, uid },
    type,
    reason,
    note: message.slice(0, 1000),
  } as KubeObject)
}

/** A part of a name must end with a letter or a digit. */
function cutName(name: string): string {
  return name.slice(0, 200).replace(/[^a-z0-9]+$/, '')
}
