import { useState } from 'react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { callApi, type Answer } from '../../data/client.ts'
import controls from '../../parts/controls.module.css'
import { ActionForm, TextField } from '../../parts/dialog.tsx'
import { ShownOnce } from './shown-once.tsx'

const roles = ['member', 'read', 'admin'] as const
const rights: Record<(typeof roles)[number], string> = {
  member: 'reads, chats, trains and uploads',
  read: 'reads and chats',
  admin: 'also manages keys and webhooks, and erases',
}
const lifetimes = [
  ['', 'never'],
  ['86400', 'in a day'],
  ['2592000', 'in 30 days'],
  ['31536000', 'in a year'],
] as const

/** Makes a key and shows it once. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState({ name: '', role: 'member' as (typeof roles)[number], seconds: '' })
  const [made, setMade] = useState<Answer<'POST /v1/preview/keys'>>()
  const make = useMutation({
    mutationFn: () =>
      callApi('POST /v1/preview/keys', {
        body: {
          name: draft.name === '' ? null : draft.name,
          role: draft.role,
          expires_in_seconds: draft.seconds === '' ? null : Number(draft.seconds),
        },
      }),
    onSuccess: async (key) => {
      setMade(key)
      await queries.invalidateQueries({ queryKey: ['GET /v1/preview/keys'] })
    },
  })
  if (made)
    return (
      <ShownOnce
        title="Copy the key now"
        secret={made.key}
        note="It is shown only once, and stored nowhere."
        onClose={onClose}
      />
    )
  return (
    <ActionForm title="Create a key" action={make} label="Create the key" onClose={onClose}>
      <TextField
        label="Name"
        isOptional
        maxLength={128}
        placeholder="where it is used"
        value={draft.name}
        onChange={(name) => setDraft({ ...draft, name })}
      />
      <label>
        Role
        <select
          className={controls.select}
          value={draft.role}
          onChange={(event) => setDraft({ ...draft, role: event.currentTarget.value as typeof draft.role })}
        >
          {roles.map((role) => (
            <option key={role} value={role}>
              {role}: {rights[role]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Expires
        <select
          className={controls.select}
          value={draft.seconds}
          onChange={(event) => setDraft({ ...draft, seconds: event.currentTarget.value })}
        >
          {lifetimes.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </ActionForm>
  )
}
