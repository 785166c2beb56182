import { useState } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { basePath } from '../../data/base.ts'
import { callApi } from '../../data/client.ts'
import { refetchOf } from '../../data/query-client.ts'
import { sessionQuery } from '../../data/session.ts'
import { joinModelName } from '../../logic/playground.ts'
import controls from '../../parts/controls.module.css'
import { ActionForm, TextField } from '../../parts/dialog.tsx'
import { useModel } from './use-model.ts'

type Change = 'promote' | 'fork' | 'delete'

/** What can be done with a checkpoint. The list says what keys that may only read cannot do. */
export function CheckpointActions({ step }: { step: number }) {
  const model = useModel()
  const { data: session } = useQuery(sessionQuery)
  const [open, setOpen] = useState<Change>()
  const close = () => setOpen(undefined)
  const name = `${model.entity}/${model.project}/${model.name}`
  const allowed = session?.role === 'read' ? [] : changes
  return (
    <>
      <Link
        to="/$entity/$project/playground"
        params={{ entity: model.entity, project: model.project }}
        search={{ m: `${joinModelName(name, `step${step}`)},${joinModelName(name, 'step0')}` }}
        className={controls.quiet}
      >
        Chat
      </Link>
      <a
        className={controls.quiet}
        href={`${basePath}/v1/preview/models/${model.id}/checkpoints/${step}/archive`}
        download={`${model.name}-step${step}.tar`}
      >
        Download
      </a>
      {allowed.map(([change, label]) => (
        <button key={change} type="button" className={controls.quiet} onClick={() => setOpen(change)}>
          {label}
        </button>
      ))}
      {open === 'promote' && <Promote step={step} onClose={close} />}
      {open === 'fork' && <Fork step={step} onClose={close} />}
      {open === 'delete' && <Remove step={step} onClose={close} />}
    </>
  )
}

const changes: readonly (readonly [Change, string])[] = [
  ['promote', 'Alias'],
  ['fork', 'Fork'],
  ['delete', 'Delete'],
]

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
      await refetchOf(queries, '/models')
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
  const now = model.aliases[alias]
  return (
    <ActionForm
      title={`Point an alias at step ${step}`}
      action={change}
      label={`Point it at step ${step}`}
      onClose={onClose}
    >
      <TextField label="Alias" value={alias} onChange={setAlias} />
      <p>
        {now === undefined ? 'It is new.' : `It points at step ${now} now.`} Chats with {model.name}:{alias} then use
        step {step}.
      </p>
    </ActionForm>
  )
}

/** Makes a model that starts from the checkpoint, and opens it. */
function Fork({ step, onClose }: Action) {
  const model = useModel()
  const navigate = useNavigate()
  const [name, setName] = useState(`${model.name}-step${step}`)
  const change = useChange(async () => {
    const path = { model_id: model.id }
    const fork = await callApi('POST /v1/preview/models/{model_id}/fork', { path, body: { name, step } })
    const params = { entity: fork.entity, project: fork.project, run: fork.name }
    await navigate({ to: '/$entity/$project/runs/$run/checkpoints', params })
  }, onClose)
  return (
    <ActionForm title={`Make a run from step ${step}`} action={change} label="Make the run" onClose={onClose}>
      <TextField label="Name of the new run" maxLength={128} value={name} onChange={setName} />
      <p>
        It gets a copy of the weights and begins at step {step}. What happens to {model.name} later does not change it.
      </p>
    </ActionForm>
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
  return (
    <ActionForm
      title={`Delete the checkpoint of step ${step}`}
      action={change}
      label="Delete it"
      tone="danger"
      isReady={typed === name}
      onClose={onClose}
    >
      <p>Its weights are deleted for good. Chats that name it fail. One that has an alias cannot be deleted.</p>
      <TextField label={`Type ${name}`} value={typed} onChange={setTyped} />
    </ActionForm>
  )
}
