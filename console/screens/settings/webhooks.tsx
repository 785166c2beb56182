import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { baseUrl } from '../../data/base.ts'
import { wholeListQuery, type Item } from '../../data/queries.ts'
import { sessionQuery } from '../../data/session.ts'
import { writeCurl } from '../../logic/command.ts'
import { countOf, describeSize } from '../../logic/numbers.ts'
import { Chip } from '../../parts/badges.tsx'
import controls from '../../parts/controls.module.css'
import { Download } from '../../parts/download.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { createdColumn } from './created-column.tsx'
import { Deliveries } from './deliveries.tsx'
import { NewWebhook } from './new-webhook.tsx'
import { RemoveWebhook } from './remove-webhook.tsx'
import classes from './settings.module.css'

type Webhook = Item<'GET /v1/preview/webhooks'>

/** The webhooks of the entity, and the deliveries of the one that the address names. */
export function WebhooksTab() {
  const { data: session } = useQuery(sessionQuery)
  if (session?.role === 'read')
    return (
      <Empty title="Your key may not see webhooks">
        Their addresses may contain secrets. Keys with the role member see them, and those with the role admin change
        them.
      </Empty>
    )
  return <Webhooks isAdmin={session?.role === 'admin'} />
}

function Webhooks({ isAdmin }: { isAdmin: boolean }) {
  const { hook } = useSearch({ from: '/inside/$entity/settings/webhooks' })
  const navigate = useNavigate({ from: '/$entity/settings/webhooks' })
  const webhooks = useQuery(wholeListQuery('GET /v1/preview/webhooks'))
  const [isMaking, setMaking] = useState(false)
  const [asked, setAsked] = useState<Webhook>()
  const open = (id: string | undefined) => void navigate({ search: { hook: id }, replace: true })
  return (
    <>
      <Answered result={webhooks} rows={4}>
        {({ items, ...size }) => (
          <>
            <div className={classes.bar}>
              <p role="status">{describeSize(items.length, size, 'webhook')}</p>
              <Download name="webhooks" rows={items} />
              {isAdmin ? (
                <button type="button" className={controls.primary} onClick={() => setMaking(true)}>
                  Create a webhook
                </button>
              ) : (
                <p>Keys with the role admin create and delete webhooks.</p>
              )}
            </div>
            {items.length === 0 ? (
              <Empty title="No webhooks yet" command={writeCurl(baseUrl, newWebhook)}>
                A webhook sends a POST to your server when a training job or a model changes its state.
              </Empty>
            ) : (
              <Table
                label="Webhooks"
                columns={listColumns({ isAdmin, onOpen: open, onRemove: setAsked })}
                rows={items}
                keyOf={({ id }) => id}
                selected={hook}
              />
            )}
          </>
        )}
      </Answered>
      {hook !== undefined && <Deliveries id={hook} isAdmin={isAdmin} onClose={() => open(undefined)} />}
      {isMaking && <NewWebhook onClose={() => setMaking(false)} />}
      {asked && <RemoveWebhook webhook={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

const newWebhook = { method: 'POST', address: '/v1/preview/webhooks', body: { url: 'https://example.com/hook' } }

interface Actions {
  isAdmin: boolean
  onOpen: (id: string) => void
  onRemove: (webhook: Webhook) => void
}

function listColumns({ isAdmin, onOpen, onRemove }: Actions): Column<Webhook>[] {
  return [
    { id: 'url', head: 'Address', width: 'minmax(220px, 2fr)', cell: ({ url }) => <span title={url}>{url}</span> },
    {
      id: 'events',
      head: 'Events',
      width: 'minmax(160px, 1fr)',
      cell: ({ events }) => <span title={events.join('\n')}>{events.join(', ')}</span>,
    },
    { id: 'project', head: 'Project', width: '120px', cell: ({ project }) => project ?? 'all' },
    {
      id: 'failures',
      head: 'Health',
      width: '120px',
      cell: ({ consecutive_failures: failures }) =>
        failures === 0 ? 'works' : <Chip tone="orange">{countOf(failures, 'failure')}</Chip>,
    },
    createdColumn,
    {
      id: 'actions',
      head: 'Actions',
      width: '180px',
      isNumber: true,
      cell: (webhook) => (
        <>
          <button type="button" className={controls.quiet} onClick={() => onOpen(webhook.id)}>
            Deliveries
          </button>
          {isAdmin && (
            <button type="button" className={controls.quiet} onClick={() => onRemove(webhook)}>
              Delete
            </button>
          )}
        </>
      ),
    },
  ]
}
