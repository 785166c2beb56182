import { useState, type FormEvent } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { callApi } from '../../data/client.ts'
import { sessionQuery } from '../../data/session.ts'
import controls from '../../parts/controls.module.css'
import { Dialog } from '../../parts/dialog.tsx'
import { useModel } from './use-model.ts'

/** What can be done with a checkpoint. */
export function CheckpointActions({ step }: { step: number }) {
  const model = useModel()
  const { data: session } = useQuery(sessionQuery)
  const [open, setOpen] = useState<'promote' | 'delete'>()
  const close = () => setOpen(undefined)
  return (
    <>
      <a
        className={controls.quiet}
        href={`/v1/preview/models/${model.id}/checkpoints/${step}/archive`}
        download={`${model.name}-step${step}.tar`}
      >
        Download
      </a>
      {session?.role !== 'read' && (
        <>
          <button type="button" className={controls.quiet} onClick={() => setOpen('promote')}>
            Alias
          </button>
          <button type="button" className={controls.quiet} onClick={() => setOpen('delete')}>
            Delete
          </button>
        </>
      )}
      {open === 'promote' && <Promote step={step} onClose={close} />}
      {open === 'delete' && <Remove step={step} onClose={close} />}
    </>
  )
}

interface Action {
  step: number
  onClose: () => void
}

/** Sends a change and reads the run and its checkpoints again. */
function useChange(send: () => Promise<unknown>, onClose: () => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: send,
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).includes('/models') })
    },
  })
}

function Promote({ step, onClose }: Action) {
  const model = useModel()
  const [alias, setAlias] = useState('prod')
  const path = { model_id: model.id, alias }
  const change = useChange(
    () => callApi('PUT /v1/preview/models/{model_id}/aliases/{alias}', { path, body: { step } }),
    onClose,
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate()
  }
  const now = model.aliases[alias]
  return (
    <Dialog title={`Point an alias at step ${step}`} onClose={onClose} error={change.error}>
      <form onSubmit={submit}>
        <label>
          Alias
          <input
            className={controls.input}
            required
            value={alias}
            onInput={(event) => setAlias(event.currentTarget.value)}
          />
        </label>
        <p>
          {now === undefined ? 'It is new.' : `It points at step ${now} now.`} Chats with {model.name}:{alias} then use
          step {step}.
        </p>
        <button type="submit" className={controls.primary} disabled={change.isPending}>
          Point it at step {step}
        </button>
      </form>
    </Dialog>
  )
}

function Remove({ step, onClose }: Action) {
  const model = useModel()
  const [typed, setTyped] = useState('')
  const name = `${model.name}:step${step}`
  const change = useChange(
    () =>
      callApi('DELETE /v1/preview/models/{model_id}/checkpoints', {
        path: { model_id: model.id },
        query: { steps: String(step) },
      }),
    onClose,
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (typed === name) change.mutate()
  }
  return (
    <Dialog title={`Delete the checkpoint of step ${step}`} onClose={onClose} error={change.error}>
      <form onSubmit={submit}>
        <p>Its weights are deleted for good. Chats that name it fail.</p>
        <label>
          Type {name}
          <input
            className={controls.input}
            autoComplete="off"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <button type="submit" className={controls.danger} disabled={typed !== name || change.isPending}>
          Delete it
        </button>
      </form>
    </Dialog>
  )
}
