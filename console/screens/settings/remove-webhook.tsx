import { useMutation, useQueryClient } from '@tanstack/react-query'
import { callApi } from '../../data/client.ts'
import controls from '../../parts/controls.module.css'
import { Dialog } from '../../parts/dialog.tsx'

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
    <Dialog title="Delete this webhook?" onClose={onClose} error={remove.error}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          remove.mutate()
        }}
      >
        <p>{webhook.url} gets no more events. Its deliveries are deleted too.</p>
        <button type="submit" className={controls.danger} disabled={remove.isPending}>
          Delete it
        </button>
      </form>
    </Dialog>
  )
}
