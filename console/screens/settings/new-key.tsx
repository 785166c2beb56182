import { useState } from 'react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { callApi, type Answer } from '../../data/client.ts'
import { Command } from '../../parts/command.tsx'
import controls from '../../parts/controls.module.css'
import { Dialog } from '../../parts/dialog.tsx'

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
  if (made) {
    return (
      <Dialog title="Copy the key now" onClose={onClose}>
        <form method="dialog">
          <p>It is shown only once, and stored nowhere.</p>
          <Command text={made.key} />
          <button type="submit" className={controls.primary}>
            I have copied it
          </button>
        </form>
      </Dialog>
    )
  }
  return (
    <Dialog title="Create a key" onClose={onClose} error={make.error}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          make.mutate()
        }}
      >
        <label>
          Name
          <input
            className={controls.input}
            maxLength={128}
            placeholder="where it is used"
            value={draft.name}
            onInput={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
          />
        </label>
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
        <button type="submit" className={controls.primary} disabled={make.isPending}>
          Create the key
        </button>
      </form>
    </Dialog>
  )
}
