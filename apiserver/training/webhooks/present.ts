import type { DeliveryRow } from '../../../db/webhooks/deliveries.ts'
import type { WebhookRow } from '../../../db/webhooks/webhooks.ts'

/** A webhook without its secret, which is only shown at its creation. */
export function presentWebhook(webhook: WebhookRow) {
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    project: webhook.project,
    description: webhook.description,
    consecutive_failures: webhook.failures,
    created_at: webhook.createdAt.toISOString(),
  }
}

export function presentDelivery(delivery: DeliveryRow) {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.kind,
    subject_id: delivery.subjectId,
    position: delivery.position,
    state: delivery.state,
    attempts: delivery.attempts,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    next_attempt_at: delivery.state === 'pending' ? delivery.nextAttemptAt.toISOString() : null,
    created_at: delivery.createdAt.toISOString(),
    delivered_at: delivery.deliveredAt?.toISOString() ?? null,
  }
}
