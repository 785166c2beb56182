import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { baseUrl } from '../../data/base.ts'
import { callApi } from '../../data/client.ts'
import { wholeListQuery, type Item } from '../../data/queries.ts'
import { writeCurl } from '../../logic/command.ts'
import { describeSize } from '../../logic/numbers.ts'
import { Age, Chip } from '../../parts/badges.tsx'
import controls from '../../parts/controls.module.css'
import { Download } from '../../parts/download.tsx'
import { Section } from '../../parts/page.tsx'
import { Answered, Empty, Failure } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import classes from './settings.module.css'

const operation = 'GET /v1/preview/webhooks/{webhook_id}/deliveries'
type Delivery = Item<typeof operation>

interface DeliveriesProps {
  id: string
  isAdmin: boolean
  onClose: () => void
}

// A person looks at the newest ones.
const maxShown = 500

/** What a webhook has sent in the last week, the newest first. */
export function Deliveries({ id, isAdmin, onClose }: DeliveriesProps) {
  const path = { webhook_id: id }
  const deliveries = useQuery({ ...wholeListQuery(operation, { path }, maxShown), refetchInterval: 5_000 })
  const queries = useQueryClient()
  const replay = useMutation({
    mutationFn: async (delivery: string | undefined) => {
      if (delivery === undefined) await callApi('POST /v1/preview/webhooks/{webhook_id}/replay', { path, body: {} })
      else
        await callApi('POST /v1/preview/webhooks/{webhook_id}/deliveries/{delivery_id}/replay', {
          path: { ...path, delivery_id: delivery },
        })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: [operation] }),
  })
  return (
    <Section title="Deliveries of the last week">
      {replay.error && <Failure error={replay.error} />}
      <Answered result={deliveries} rows={4}>
        {({ items, ...size }) => (
          <>
            <div className={classes.bar}>
              <p role="status">{describeSize(items.length, size, 'delivery', 'deliveries')}</p>
              <Download name="deliveries" rows={items} />
              {isAdmin && (
                <button
                  type="button"
                  className={controls.button}
                  disabled={replay.isPending}
                  onClick={() => replay.mutate(undefined)}
                >
                  Send all that failed again
                </button>
              )}
              <button type="button" className={controls.quiet} onClick={onClose}>
                Close
              </button>
            </div>
            {items.length === 0 ? (
              <Empty
                title="Nothing was sent in the last week"
                command={writeCurl(baseUrl, {
                  method: 'POST',
                  address: `/v1/preview/webhooks/${id}/replay`,
                  body: { after_position: 0 },
                })}
              >
                The next change is sent at once. This sends those of the last week.
              </Empty>
            ) : (
              <Table
                label="Deliveries"
                columns={listColumns(isAdmin ? (delivery) => replay.mutate(delivery) : undefined)}
                rows={items}
                keyOf={(delivery) => delivery.id}
              />
            )}
          </>
        )}
      </Answered>
    </Section>
  )
}

function listColumns(onReplay: ((id: string) => void) | undefined): Column<Delivery>[] {
  return [
    { id: 'type', head: 'Event', width: 'minmax(180px, 1fr)', cell: ({ type }) => type },
    {
      id: 'state',
      head: 'State',
      width: '104px',
      cell: ({ state }) => (state === 'failed' ? <Chip tone="orange">{state}</Chip> : state),
    },
    { id: 'attempts', head: 'Attempts', width: '84px', isNumber: true, cell: ({ attempts }) => attempts },
    {
      id: 'answer',
      head: 'Last answer',
      width: 'minmax(160px, 2fr)',
      cell: ({ last_status: status, last_error: error }) => (
        <span title={error ?? undefined}>{error ?? status ?? '–'}</span>
      ),
    },
    {
      id: 'created',
      head: 'Created',
      width: '104px',
      isNumber: true,
      cell: ({ created_at: time }) => <Age time={time} />,
    },
    ...(onReplay
      ? [
          {
            id: 'actions',
            head: 'Actions',
            width: '112px',
            isNumber: true,
            cell: ({ id }: Delivery) => (
              <button type="button" className={controls.quiet} onClick={() => onReplay(id)}>
                Send again
              </button>
            ),
          },
        ]
      : []),
  ]
}
