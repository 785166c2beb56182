import { listen } from '../../../db/listen.ts'
import { outboxChannel } from '../../../db/webhooks/outbox.ts'
import { createLogger } from '../../../lib/log.ts'
import { createOutbound } from '../../../lib/outbound/outbound.ts'
import { SealingKeys } from '../../../lib/sealing/sealing-keys.ts'
import { WebhookDeliverer } from '../../../operator/webhooks/deliverer.ts'
import type { BenchServer } from '../bench-server.ts'

const log = createLogger('bench', 'silent')

/** Runs what numbers changes in the operator's leader, so that they reach those who follow them. */
export async function withNumberedChanges<T>({ pool, databaseUrl }: BenchServer, work: () => Promise<T>): Promise<T> {
  const outbound = createOutbound({ hosts: [], privateNetworks: [] })
  const deliverer = new WebhookDeliverer({ pool, log, outbound, sealingKeys: new SealingKeys([]) })
  const wake = () => deliverer.wake()
  const listener = listen(databaseUrl, [outboxChannel], { onNotify: wake, onConnect: wake }, log)
  deliverer.start()
  try {
    return await work()
  } finally {
    await listener.close()
    await deliverer.close()
    await outbound.close()
  }
}
