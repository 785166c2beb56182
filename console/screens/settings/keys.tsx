import { useState } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { callApi } from '../../data/client.ts'
import { wholeListQuery, type Item } from '../../data/queries.ts'
import { sessionQuery } from '../../data/session.ts'
import { describeKeyState } from '../../logic/key-state.ts'
import { describeSize } from '../../logic/numbers.ts'
import { Age, Chip, useNow } from '../../parts/badges.tsx'
import controls from '../../parts/controls.module.css'
import { ActionForm } from '../../parts/dialog.tsx'
import { Download } from '../../parts/download.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { createdColumn } from './created-column.tsx'
import { NewKey } from './new-key.tsx'
import classes from './settings.module.css'

type Key = Item<'GET /v1/preview/keys'>

/** The keys of the entity, with their roles. */
export function KeysTab() {
  const { data: session } = useQuery(sessionQuery)
  if (session?.role !== 'admin')
    return (
      <Empty title="Your key may not see other keys">
        It has the role {session?.role}. Keys with the role admin list, make and revoke the keys of {session?.entity}.
      </Empty>
    )
  return <Keys />
}

function Keys() {
  const keys = useQuery(wholeListQuery('GET /v1/preview/keys'))
  const [isMaking, setMaking] = useState(false)
  const [asked, setAsked] = useState<Key>()
  const now = useNow(10_000)
  return (
    <>
      <Answered result={keys} rows={6}>
        {({ items, ...size }) => (
          <>
            <div className={classes.bar}>
              <p role="status">{describeSize(items.length, size, 'key')}</p>
              <Download name="keys" rows={items.toReversed()} />
              <button type="button" className={controls.primary} onClick={() => setMaking(true)}>
                Create a key
              </button>
            </div>
            <Table label="Keys" columns={listColumns(now, setAsked)} rows={items.toReversed()} keyOf={({ id }) => id} />
          </>
        )}
      </Answered>
      {isMaking && <NewKey onClose={() => setMaking(false)} />}
      {asked && <Revoke apiKey={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

function listColumns(now: number, onRevoke: (key: Key) => void): Column<Key>[] {
  return [
    { id: 'name', head: 'Name', width: 'minmax(140px, 1fr)', cell: ({ name, id }) => name ?? id.slice(0, 8) },
    {
      id: 'role',
      head: 'Role',
      width: '92px',
      cell: ({ role }) => <Chip {...(role === 'admin' && { tone: 'blue' as const })}>{role}</Chip>,
    },
    {
      id: 'prefix',
      head: 'Begins with',
      width: '128px',
      cell: ({ prefix }) => <code className={classes.code}>{prefix ?? '–'}</code>,
    },
    { id: 'state', head: 'State', width: 'minmax(150px, 1fr)', cell: (key) => describeKeyState(key, now) },
    {
      id: 'used',
      head: 'Last used',
      width: '112px',
      isNumber: true,
      cell: ({ last_used_at: time }) => (time === null ? 'never' : <Age time={time} />),
    },
    createdColumn,
    {
      id: 'actions',
      head: 'Actions',
      width: '96px',
      isNumber: true,
      cell: (key) =>
        key.revoked_at === null && (
          <button type="button" className={controls.quiet} onClick={() => onRevoke(key)}>
            Revoke
          </button>
        ),
    },
  ]
}

function Revoke({ apiKey: { id, name, prefix }, onClose }: { apiKey: Key; onClose: () => void }) {
  const queries = useQueryClient()
  const { data: session } = useQuery(sessionQuery)
  const revoke = useMutation({
    mutationFn: () => callApi('DELETE /v1/preview/keys/{key_id}', { path: { key_id: id } }),
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries({ queryKey: ['GET /v1/preview/keys'] })
      await queries.invalidateQueries({ queryKey: ['session'] })
    },
  })
  return (
    <ActionForm
      title={`Revoke the key ${name ?? prefix ?? id.slice(0, 8)}?`}
      action={revoke}
      label="Revoke it"
      tone="danger"
      onClose={onClose}
    >
      <p>Whoever uses it is rejected at once, for good. Its sessions and streams end.</p>
      {session?.key_id === id && <p>This session was opened with it: you have to log in again.</p>}
    </ActionForm>
  )
}
