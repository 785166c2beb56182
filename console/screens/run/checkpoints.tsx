import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { wholeListQuery, type Item } from '../../data/queries.ts'
import { usePolling } from '../../data/live.ts'
import { sessionQuery } from '../../data/session.ts'
import { describeSize, formatBytes, formatMetric } from '../../logic/numbers.ts'
import { readList, toggle, writeList } from '../../logic/search.ts'
import { Age, Chip } from '../../parts/badges.tsx'
import { ColumnMenu } from '../../parts/column-menu.tsx'
import { Download } from '../../parts/download.tsx'
import { Answered } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { CheckpointActions } from './checkpoint-actions.tsx'
import { EmptyRun } from './empty-run.tsx'
import { useModel } from './use-model.ts'
import classes from './checkpoints.module.css'

const route = '/inside/$entity/$project/runs/$run/checkpoints'
type Checkpoint = Item<'GET /v1/preview/models/{model_id}/checkpoints'>

/** The checkpoints of a run, the newest first, with what can be done with them. */
export function CheckpointsTab() {
  const model = useModel()
  const { data: session } = useQuery(sessionQuery)
  const isReader = session?.role === 'read'
  const checkpoints = useQuery({
    ...wholeListQuery('GET /v1/preview/models/{model_id}/checkpoints', { path: { model_id: model.id } }),
    refetchInterval: usePolling(),
  })
  const { cols } = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/runs/$run/checkpoints' })
  const shown = (items: readonly Checkpoint[]) => (cols === undefined ? firstMetrics(items) : readList(cols))
  // Without any, the address names none.
  const change = (names: string[]) => void navigate({ search: { cols: writeList(names) ?? ',' }, replace: true })
  return (
    <Answered result={checkpoints} rows={8}>
      {({ items, ...size }) =>
        items.length === 0 ? (
          <EmptyRun title="No checkpoints yet">
            Each training job that succeeds makes one. This program sends a job.
          </EmptyRun>
        ) : (
          <>
            <div className={classes.count}>
              <p role="status">
                {describeSize(items.length, size, 'checkpoint')}
                {isReader && '. Your key has the role read: it cannot give aliases, fork or delete'}
              </p>
              <ColumnMenu
                names={metricsOf(items)}
                isShown={(name) => shown(items).includes(name)}
                onToggle={(name) => change(toggle(shown(items), name))}
              />
              <Download name={`${model.name}-checkpoints`} rows={items.toReversed()} />
            </div>
            <Table
              label="Checkpoints"
              columns={listColumns(shown(items), model.aliases)}
              rows={items.toReversed()}
              keyOf={({ id }) => id}
            />
          </>
        )
      }
    </Answered>
  )
}

const metricsOf = (items: readonly Checkpoint[]) => [...new Set(items.flatMap(({ metrics }) => Object.keys(metrics)))]

// So many fit on the screen of a laptop.
const maxMetrics = 5

/** The metrics that are shown until a person chooses. */
function firstMetrics(items: readonly Checkpoint[]): string[] {
  const known = metricsOf(items)
  const first = ['reward', 'val/reward', 'loss', 'entropy', 'kl_div', 'grad_norm', 'clip_fraction']
  return first.filter((key) => known.includes(key)).slice(0, maxMetrics)
}

function listColumns(metrics: readonly string[], aliases: Record<string, number>): Column<Checkpoint>[] {
  return [
    { id: 'step', head: 'Step', width: '72px', cell: ({ step }) => <b className={classes.step}>{step}</b> },
    {
      id: 'aliases',
      head: 'Aliases',
      width: 'minmax(84px, 1fr)',
      cell: ({ step }) =>
        Object.entries(aliases)
          .filter(([, at]) => at === step)
          .map(([alias]) => (
            <Chip key={alias} tone="blue">
              {alias}
            </Chip>
          )),
    },
    {
      id: 'actions',
      head: 'Actions',
      width: '316px',
      isNumber: true,
      cell: ({ step }) => <CheckpointActions step={step} />,
    },
    {
      id: 'size',
      head: 'Size',
      width: '76px',
      isNumber: true,
      cell: ({ size }) => (size === null ? '–' : formatBytes(size)),
    },
    {
      id: 'loaded',
      head: 'Loaded on',
      width: 'minmax(96px, 1fr)',
      cell: ({ loaded_on: pods }) => (
        <span className={classes.pods} title={pods.join('\n')}>
          {pods.length === 0 ? 'no engine' : pods.join(', ')}
        </span>
      ),
    },
    ...metrics.map((key): Column<Checkpoint> => ({
      id: key,
      head: key,
      width: '88px',
      isNumber: true,
      cell: (checkpoint) => formatMetric(checkpoint.metrics[key]),
    })),
    {
      id: 'created',
      head: 'Created',
      width: '92px',
      isNumber: true,
      cell: ({ created_at: time }) => <Age time={time} />,
    },
  ]
}
