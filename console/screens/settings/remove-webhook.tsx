import { useMutation, useQueryClient } from '@tanstack/react-query'
import { callApi } from '../../data/client.ts'
import { ActionForm } from '../../parts/dialog.tsx'

/** Asks before a webhook is deleted. */
export function RemoveWebhook({ webhook, onClose }: { webhook: { id: string; url: string }; onClose: () => void }) {
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => callApi('DELETE /v1/preview/webhooks/{webhook_id}', { path: { webhook_id: webhook.id } }),
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries({ queryKey: ['GET /v1/preview/webhooks'] })
    },
  })
  return (
    <ActionForm title="Delete this webhook?" action={remove} label="Delete it" tone="danger" onClose={onClose}>
      <p>{webhook.url} gets no more events. Its deliveries are deleted too.</p>
    </ActionForm>
  )
}
