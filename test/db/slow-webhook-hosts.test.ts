import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { sealSecret } from '../../db/webhooks/sealing.ts'
import { createLogger } from '../../lib/log.ts'
import { createOutbound } from '../../lib/outbound/outbound.ts'
import { SealingKeys } from '../../lib/sealing/sealing-keys.ts'
import { WebhookDeliverer } from '../../operator/webhooks/deliverer.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { openReceiver } from '../support/webhook-receiver.ts'

const log = createLogger('test', 'silent')
const sealingKeys = new SealingKeys(['key'])
const database = useTestDatabase()

async function addWebhooks(url: string, count: number): Promise<string> {
  const entity = `team-${randomUUID()}`
  const ids = Array.from({ length: count }, () => randomUUID())
  await database.pool.query(
    `INSERT INTO training.webhooks (id, entity, url, events, sealed_secret, key_id)
     SELECT id, $1, $2, '{model.created}', sealed, id FROM unnest($3::uuid[], $4::text[]) AS each (id, sealed)`,
    [entity, url, ids, ids.map((id) => sealSecret(sealingKeys, `whsec_${id}`, { id, entity }))],
  )
  return entity
}

async function addEvents(entity: string, count: number): Promise<void> {
  await database.pool.query(
    `INSERT INTO training.outbox (entity, project, kind, subject_id, data)
     SELECT $1, 'p', 'model.created', gen_random_uuid(), '{}' FROM generate_series(1, $2)`,
    [entity, count],
  )
}

test("entities whose endpoints never answer delay no other entity's deliveries", async () => {
  const silent = await openReceiver(() => 'never')
  const receiver = await openReceiver()
  const outbound = createOutbound({ hosts: ['http://*:*'], privateNetworks: ['127.0.0.0/8'] })
  const deliverer = new WebhookDeliverer({ pool: database.pool, log, outbound, sealingKeys })
  for (const entity of [await addWebhooks(silent.url, 100), await addWebhooks(silent.url, 100)]) {
    await addEvents(entity, 4)
  }
  const other = await addWebhooks(receiver.url, 1)
  deliverer.start()
  try {
    await eventually(() => expect(silent.received.length).toBeGreaterThan(255))
    await addEvents(other, 1)
    deliverer.wake()
    await eventually(() => expect(receiver.received).toHaveLength(1), 5_000)
    expect(silent.received).toHaveLength(256)
  } finally {
    await deliverer.close()
    await outbound.close()
    await silent.close()
    await receiver.close()
  }
})
